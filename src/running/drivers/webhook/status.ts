import Type, { type Static } from 'typebox';
import { AppError, formatViolation } from '../../../kernel/errors.ts';
import { createSchemaCheck } from '../../../kernel/schemas/schema-check.ts';
import type { ObservedState } from '../../../management/services/driver.ts';
import { findUrlViolation, MAX_URL_LENGTH } from '../../../platform/webhooks/webhook.ts';

const STATES = [
  'provisioning',
  'starting',
  'running',
  'resizing',
  'idle',
  'awaking',
  'stopping',
  'stopped',
  'degraded',
  'deleted',
] as const satisfies readonly ObservedState[];

/** Printable ASCII: the values become headers. */
const headerText = (maxLength: number) => Type.String({ maxLength, pattern: '^[ -~]*$' });
const amount = () => Type.Optional(Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }));

/** What a receiver answers. The reconciler checks that the amounts are possible. Other members are allowed and ignored. */
const WebhookStatus = Type.Object({
  generation: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  state: Type.Enum([...STATES]),
  replicas: amount(),
  memoryGb: amount(),
  shards: amount(),
  reason: Type.Optional(Type.String({ maxLength: 1024 })),
  version: Type.Optional(Type.String({ maxLength: 64 })),
  url: Type.Optional(Type.String({ maxLength: MAX_URL_LENGTH, pattern: '^http://' })),
  username: Type.Optional(headerText(255)),
  password: Type.Optional(headerText(1024)),
  load: Type.Optional(
    Type.Object({ cpuCores: amount(), memoryBytes: amount(), storedBytes: amount(), outOfMemory: amount() }),
  ),
});
export type WebhookStatus = Static<typeof WebhookStatus>;

const MAX_VIOLATIONS = 3;
const findViolations = createSchemaCheck(WebhookStatus, MAX_VIOLATIONS);

/** The values of a receiver are not shown: one of them is a password. */
export function parseStatus(text: string, allowPrivate: boolean): WebhookStatus {
  const value = parseJson(text);
  const violations = findViolations(value, 'status');
  const url = violations.length === 0 ? (value as WebhookStatus).url : undefined;
  const rule = url === undefined ? undefined : findUrlViolation(url, { allowPrivate });
  if (rule !== undefined) violations.push({ path: 'status.url', rule, value: url });
  if (violations.length > 0) {
    const rules = violations.map((violation) => formatViolation({ ...violation, secret: true }));
    throw new AppError('unavailable', `The webhook receiver sent a status that is not valid: ${rules.join('; ')}`);
  }
  return value as WebhookStatus;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError('unavailable', 'The webhook receiver sent a status that is not JSON');
  }
}
