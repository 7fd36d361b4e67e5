import Type, { type TSchema } from 'typebox';
import type { Violation } from '../../kernel/errors.ts';
import { MISSING } from '../../kernel/errors.ts';
import type { DriverName, KubernetesOptions, WebhookOptions } from '../../management/services/driver.ts';
import type { Service } from '../../management/services/service.ts';
import { DECLARED_DRIVERS, type ServiceSettings } from '../../management/services/service-settings.ts';
import { findUrlViolation, MAX_URL_LENGTH } from '../../platform/webhooks/webhook.ts';

const exact = { additionalProperties: false };

const checked = (maxLength: number, pattern: RegExp, rule: string) =>
  Type.Refine(
    Type.String({ minLength: 1, maxLength }),
    (value) => typeof value !== 'string' || pattern.test(value),
    () => rule,
  );

/** The value becomes part of a path. */
const name = (maxLength: number) =>
  checked(
    maxLength,
    /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/,
    'The value must be a name of Kubernetes: lower-case letters, digits, dashes and dots',
  );

/** The value becomes a header. */
const headerText = (maxLength: number) =>
  checked(maxLength, /^[ -~]*$/, 'The value must consist of printable ASCII characters');

/** Private addresses are allowed here; a webhook to one is sent only with `--webhook-allow-private yes`. */
const url = (protocols: RegExp, rule: string) =>
  Type.Refine(
    Type.String({ minLength: 1, maxLength: MAX_URL_LENGTH }),
    (value) =>
      typeof value !== 'string' ||
      (protocols.test(value) && findUrlViolation(value, { allowPrivate: true }) === undefined),
    () => rule,
  );

const WEBHOOK_URL_RULE = 'The value must be an http or https URL without a user name, and not to a reserved address';
const DATABASE_URL_RULE = 'The value must be an http URL without a user name, and not to a reserved address';

export const KubernetesSpec = Type.Object(
  {
    kind: Type.Enum(['ClickHouseInstallation', 'ClickHouseCluster']),
    namespace: name(63),
    name: name(253),
    url: Type.Optional(url(/^http:/i, DATABASE_URL_RULE)),
    username: Type.Optional(headerText(255)),
    password: Type.Optional(headerText(1024)),
    canIdle: Type.Optional(Type.Boolean()),
  },
  exact,
);

/** An export has no secret; a service that has one keeps it. */
export const WebhookSpec = <T extends TSchema>(secret: T) =>
  Type.Object({ url: url(/^https?:/i, WEBHOOK_URL_RULE), secret: Type.Optional(secret) }, exact);

interface DeclaredOptions {
  driver?: DriverName;
  kubernetes?: object;
  webhook?: object;
}

/** The options of a driver need that driver in the same declaration: others would be kept and never used. */
export const listUnusedOptions = (spec: DeclaredOptions, path: string): Violation[] =>
  DECLARED_DRIVERS.filter((driver) => spec[driver] !== undefined && spec.driver !== driver).map((driver) => ({
    path: `${path}.${driver}`,
    rule: `These options require driver: ${driver}`,
    value: spec.driver ?? MISSING,
  }));

/** The options of the driver, with the secrets that the declaration leaves out, in a fixed order. */
export function mergeDriverOptions(
  driver: DriverName,
  declared: { kubernetes?: unknown; webhook?: unknown },
  before: ServiceSettings | undefined,
): Pick<ServiceSettings, 'kubernetes' | 'webhook'> {
  const kubernetes = declared.kubernetes as KubernetesOptions | undefined;
  const webhook = declared.webhook as WebhookOptions | undefined;
  if (driver === 'kubernetes' && kubernetes)
    return {
      kubernetes: orderKubernetes({ ...kubernetes, password: kubernetes.password ?? before?.kubernetes?.password }),
    };
  if (driver === 'webhook' && webhook)
    return { webhook: { url: webhook.url, secret: webhook.secret ?? before?.webhook?.secret ?? '' } };
  return {};
}

const KUBERNETES_MEMBERS = ['kind', 'namespace', 'name', 'url', 'username', 'password', 'canIdle'] as const;

const orderKubernetes = (options: KubernetesOptions): KubernetesOptions =>
  Object.fromEntries(
    KUBERNETES_MEMBERS.flatMap((member) => (options[member] === undefined ? [] : [[member, options[member]]])),
  ) as unknown as KubernetesOptions;

/** A driver without its options, or a webhook without a secret. */
export function missingOptionViolations({ driver, settings = {} }: Service): Violation[] {
  const missing = DECLARED_DRIVERS.find((name) => name === driver && settings[name] === undefined);
  if (missing) return [{ path: missing, rule: `The driver ${driver} requires these options`, value: MISSING }];
  if (settings.webhook?.secret === '')
    return [{ path: 'webhook.secret', rule: 'The value is required for a new webhook', value: MISSING }];
  const { kubernetes } = settings;
  if (kubernetes?.canIdle !== undefined && kubernetes.kind !== 'ClickHouseCluster') {
    const rule = 'The value is for a ClickHouseCluster; a ClickHouseInstallation can always idle';
    return [{ path: 'kubernetes.canIdle', rule, value: kubernetes.canIdle }];
  }
  return [];
}

/** Without secrets, for an export. */
export function toExportedOptions({ kubernetes, webhook }: ServiceSettings): Record<string, object> {
  const { password: _, ...resource } = kubernetes ?? {};
  return { ...(kubernetes && { kubernetes: resource }), ...(webhook && { webhook: { url: webhook.url } }) };
}

/** For plans and the audit log. The path and query of a URL often contain secrets, so only the origin is included. */
export function toAuditedOptions({ kubernetes, webhook }: ServiceSettings): Record<string, unknown> {
  const { password: _, url: database, ...resource } = kubernetes ?? {};
  return {
    ...(kubernetes && { kubernetes: { ...resource, ...(database && { url: new URL(database).origin }) } }),
    ...(webhook && { webhook: new URL(webhook.url).origin }),
  };
}
