import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';

interface KubernetesObject {
  kind: string;
  metadata: {
    name: string;
    namespace: string;
    resourceVersion: string;
    generation: number;
    labels?: Record<string, string>;
  };
  spec?: object;
  status?: object;
}

interface Operation {
  op: string;
  path: string;
  value: unknown;
}

interface ReceivedRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  body: unknown;
}

type Members = Record<string, unknown>;

const PLURALS: Readonly<Record<string, string>> = {
  '/apis/clickhouse.altinity.com/v1 clickhouseinstallations': 'ClickHouseInstallation',
  '/apis/clickhouse.com/v1alpha1 clickhouseclusters': 'ClickHouseCluster',
  '/apis/apps/v1 statefulsets': 'StatefulSet',
  '/api/v1 pods': 'Pod',
};

const PATH = /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?(?:\/(scale))?$/;

/**
 * Answers the requests of the driver as a kube-apiserver 1.34 did: resource versions, generations, JSON Patch with tests,
 * merge patch of a scale, dry runs, and the recorded errors. It has no operator; a test writes what an operator would.
 */
export async function startKubernetesApi(tls?: { key: string; cert: string }) {
  const objects = new Map<string, KubernetesObject>();
  const received: ReceivedRequest[] = [];
  /** Kinds of objects and, with a verb in front, rights that are missing. */
  const refused = { kinds: new Set<string>(), rights: new Set<string>() };
  const access = { token: 'token-of-pilothouse' };
  /** Paths that the schema of a resource does not have: such members are dropped. */
  const unknownPaths = new Set<string>();
  /** Runs before a patch is applied: another client is faster. */
  const hooks: { beforePatch?: (() => void) | undefined } = {};
  /** Of the lists of sets, if it is below the limit of the request. */
  const pageSize = { sets: 500, isEndless: false };
  let version = 100;

  const getKey = (kind: string, name: string) => `${kind}/${name}`;

  /** Stores a changed object, with a new resource version and, if its spec differs, a new generation. */
  function put(object: KubernetesObject): KubernetesObject {
    const key = getKey(object.kind, object.metadata.name);
    const before = objects.get(key);
    const stored = structuredClone(object);
    stored.metadata.resourceVersion = String(++version);
    if (before && !isDeepStrictEqual(before.spec, stored.spec))
      stored.metadata.generation = before.metadata.generation + 1;
    objects.set(key, stored);
    return stored;
  }

  function answer({ method, path, query, body }: ReceivedRequest): { status: number; body: object | string } {
    const [, root = '', , plural = '', name, subresource] = PATH.exec(path) ?? [];
    const kind = PLURALS[`${root} ${plural}`];
    if (kind === undefined || refused.kinds.has(kind)) return { status: 404, body: '404 page not found\n' };
    const verb = method === 'PATCH' ? 'patch' : name === undefined ? 'list' : 'get';
    if (refused.rights.has(`${verb} ${plural}`)) return toStatus(403, 'Forbidden');
    if (name === undefined) return { status: 200, body: toPage(kind, list(kind, query.labelSelector), query) };
    const object = objects.get(getKey(kind, name));
    if (!object) return toStatus(404, 'NotFound');
    if (method === 'GET') return { status: 200, body: object };
    hooks.beforePatch?.();
    return change(objects.get(getKey(kind, name)) ?? object, body, {
      isScale: subresource === 'scale',
      isDryRun: query.dryRun === 'All',
    });
  }

  function change(object: KubernetesObject, body: unknown, { isScale = false, isDryRun = false }) {
    const changed = isScale
      ? scale(object, body as Members)
      : applyPatch(
          object,
          (body as Operation[]).filter(({ path }) => !unknownPaths.has(path)),
        );
    if (typeof changed === 'number') return toStatus(changed, changed === 409 ? 'Conflict' : 'Invalid');
    return { status: 200, body: isDryRun ? changed : put(changed) };
  }

  /** `continue` is the position of the next item. */
  function toPage(kind: string, items: KubernetesObject[], query: Record<string, string>) {
    const size = Math.min(kind === 'StatefulSet' ? pageSize.sets : Number(query.limit), Number(query.limit));
    const start = Number(query.continue ?? 0);
    const end = start + size;
    const isLast = end >= items.length && !pageSize.isEndless;
    const page = pageSize.isEndless ? Array.from({ length: 500 }, () => items[0]) : items.slice(start, end);
    return { kind: `${kind}List`, metadata: isLast ? {} : { continue: String(end) }, items: page };
  }

  function list(kind: string, selector = ''): KubernetesObject[] {
    const [label = '', value] = selector.split('=');
    return [...objects.values()].filter(
      (object) => object.kind === kind && (label === '' || object.metadata.labels?.[label] === value),
    );
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const url = new URL(request.url ?? '', 'http://api');
    const call = {
      method: request.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      body: text === '' ? undefined : JSON.parse(text),
    };
    received.push(call);
    const isKnown = request.headers.authorization === `Bearer ${access.token}`;
    const { status, body } = isKnown ? answer(call) : toStatus(401, 'Unauthorized');
    const isText = typeof body === 'string';
    response.writeHead(status, { 'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json' });
    response.end(isText ? body : JSON.stringify(body));
  }

  const onRequest = (request: IncomingMessage, response: ServerResponse) => void respond(request, response);
  const server = tls ? createHttpsServer(tls, onRequest) : createHttpServer(onRequest);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    objects,
    received,
    refused,
    access,
    unknownPaths,
    hooks,
    pageSize,
    put,
    /** As `put`, with a status that is about the new generation. */
    settle(object: KubernetesObject): void {
      const { metadata, ...stored } = put(object);
      put({ ...stored, metadata, status: { ...stored.status, observedGeneration: metadata.generation } });
    },
    get: <T>(kind: string, name: string) => structuredClone(objects.get(getKey(kind, name))) as T,
    remove: (kind: string, name: string) => objects.delete(getKey(kind, name)),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const toStatus = (code: number, reason: string) => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, details: {}, code },
});

/** The changed object, or 422 as for a failed test and for a path that is not there. */
function applyPatch(object: KubernetesObject, operations: readonly Operation[]): KubernetesObject | number {
  const draft = structuredClone(object);
  for (const { op, path, value } of operations) {
    const names = path
      .split('/')
      .slice(1)
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = names.pop() ?? '';
    let parent = draft as unknown as Members | undefined;
    for (const name of names) parent = parent?.[name] as Members | undefined;
    if (typeof parent !== 'object') return 422;
    if (op === 'test' && !isDeepStrictEqual(parent[last], value)) return 422;
    if (op === 'replace' && !(last in parent)) return 422;
    if (op !== 'test') parent[last] = value;
  }
  return draft;
}

function scale(object: KubernetesObject, body: Members): KubernetesObject | number {
  const { metadata, spec } = body as { metadata: { resourceVersion: string }; spec: { replicas: number } };
  if (metadata.resourceVersion !== object.metadata.resourceVersion) return 409;
  return { ...object, spec: { ...object.spec, replicas: spec.replicas } };
}
