import { dirname, resolve } from 'node:path';
import Type, { type Static } from 'typebox';
import { isLoopbackHost } from '../../../kernel/access/addresses.ts';
import { AppError, formatViolation } from '../../../kernel/errors.ts';
import { readBoundedText } from '../../../kernel/files/read-file.ts';
import { createSchemaCheck } from '../../../kernel/schemas/schema-check.ts';
import { parseYamlOrJson } from '../../../kernel/schemas/yaml-text.ts';
import { getHost } from '../../../platform/webhooks/webhook.ts';

/** How to reach an API server. */
export interface Connection {
  server: URL;
  ca?: string;
  cert?: string;
  key?: string;
  /** The name in the server's certificate, if it is not the host. */
  servername?: string;
  token?: string;
  /** Kubernetes replaces the token in this file from time to time. */
  tokenFile?: string;
}

const MAX_FILE_BYTES = 1024 * 1024;

const optional = () => Type.Optional(Type.String());
const named = <T extends Record<string, ReturnType<typeof Type.Object>>>(properties: T) =>
  Type.Optional(Type.Array(Type.Object({ name: Type.String(), ...properties })));

const Cluster = Type.Object({
  server: Type.String(),
  'certificate-authority': optional(),
  'certificate-authority-data': optional(),
  'tls-server-name': optional(),
  'insecure-skip-tls-verify': Type.Optional(Type.Boolean()),
  'proxy-url': optional(),
});
const User = Type.Object({
  'client-certificate': optional(),
  'client-certificate-data': optional(),
  'client-key': optional(),
  'client-key-data': optional(),
  token: optional(),
  tokenFile: optional(),
  username: optional(),
  as: optional(),
  exec: Type.Optional(Type.Unknown()),
  'auth-provider': Type.Optional(Type.Unknown()),
});
const Kubeconfig = Type.Object({
  'current-context': Type.String({ minLength: 1 }),
  clusters: named({ cluster: Cluster }),
  contexts: named({ context: Type.Object({ cluster: Type.String(), user: Type.String() }) }),
  users: named({ user: User }),
});
type Kubeconfig = Static<typeof Kubeconfig>;
type Cluster = Static<typeof Cluster>;
type User = Static<typeof User>;

const findViolations = createSchemaCheck(Kubeconfig, 3);

const rejectKubeconfig = (reason: string): never => {
  throw new AppError('unavailable', `The kubeconfig cannot be used: ${reason}`);
};

/** The members that are refused, because ignoring them would connect in another way than `kubectl` does. */
const REFUSED: readonly [keyof Cluster | keyof User, string][] = [
  ['insecure-skip-tls-verify', 'certificates are always verified; give certificate-authority-data instead'],
  ['proxy-url', 'proxies are not supported'],
  ['exec', 'programs for credentials are not started; use a token, a tokenFile or a client certificate'],
  ['auth-provider', 'programs for credentials are not started; use a token, a tokenFile or a client certificate'],
  ['username', 'Kubernetes no longer accepts passwords; use a token or a client certificate'],
  ['as', 'acting as another account is not supported; use the credentials of that account'],
];

/** Reads the current context of a kubeconfig. */
export async function readKubeconfig(path: string): Promise<Connection> {
  const config = parseKubeconfig(await readLimited(path, 'it'));
  const name = config['current-context'];
  const context =
    config.contexts?.find((entry) => entry.name === name)?.context ?? rejectKubeconfig(`it has no context ${name}`);
  const cluster =
    config.clusters?.find((entry) => entry.name === context.cluster)?.cluster ??
    rejectKubeconfig(`it has no cluster ${context.cluster}`);
  const user =
    config.users?.find((entry) => entry.name === context.user)?.user ??
    rejectKubeconfig(`it has no user ${context.user}`);
  for (const [member, reason] of REFUSED)
    if (({ ...cluster, ...user } as Record<string, unknown>)[member]) rejectKubeconfig(`${member}: ${reason}`);

  const folder = dirname(path);
  const readPart = async (data: string | undefined, file: string | undefined, member: string) =>
    data !== undefined
      ? Buffer.from(data, 'base64').toString('utf8')
      : file && (await readLimited(resolve(folder, file), member));
  return removeUndefined({
    server: parseServer(cluster.server),
    ca: await readPart(
      cluster['certificate-authority-data'],
      cluster['certificate-authority'],
      'certificate-authority',
    ),
    cert: await readPart(user['client-certificate-data'], user['client-certificate'], 'client-certificate'),
    key: await readPart(user['client-key-data'], user['client-key'], 'client-key'),
    servername: cluster['tls-server-name'],
    token: user.token,
    tokenFile: user.tokenFile && resolve(folder, user.tokenFile),
  });
}

/** The account that Kubernetes mounts into a pod. The name of the server is the same in every cluster. */
export async function readServiceAccount(directory: string): Promise<Connection> {
  try {
    return {
      server: new URL('https://kubernetes.default.svc'),
      ca: await readBoundedText(`${directory}/ca.crt`, MAX_FILE_BYTES),
      tokenFile: `${directory}/token`,
    };
  } catch (cause) {
    const message = 'There is no kubeconfig and no service account: give --kubeconfig, or run in a pod with an account';
    throw new AppError('unavailable', message, { cause });
  }
}

/** Undefined if the connection has no token. */
export async function readToken({ token, tokenFile }: Connection): Promise<string | undefined> {
  const text = tokenFile === undefined ? token : (await readLimited(tokenFile, 'tokenFile')).trim();
  if (text !== undefined && !/^[!-~]+$/.test(text)) rejectKubeconfig('its token is not valid');
  return text;
}

function parseKubeconfig(text: string): Kubeconfig {
  let value: unknown;
  try {
    value = parseYamlOrJson(text, 'it');
  } catch (error) {
    rejectKubeconfig((error as Error).message);
  }
  const violations = findViolations(value, '');
  if (violations.length > 0)
    rejectKubeconfig(violations.map((violation) => formatViolation({ ...violation, secret: true })).join('; '));
  return value as Kubeconfig;
}

function parseServer(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(getHost(url)))) return url;
  return rejectKubeconfig('server: it must be an https URL; http is for loopback only');
}

async function readLimited(path: string, member: string): Promise<string> {
  try {
    return await readBoundedText(path, MAX_FILE_BYTES);
  } catch (cause) {
    const message = `The kubeconfig cannot be used: ${member} cannot be read (${(cause as NodeJS.ErrnoException).code})`;
    throw new AppError('unavailable', message, { cause });
  }
}

const removeUndefined = <T extends object>(object: T) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
