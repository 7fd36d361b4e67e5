// The imports that each room and folder of src/ may have. Part of `npm run check`.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The rooms of src/ and their folders, in order. A file may import the rooms before its own, and the folders before its
 * own in its room. main.ts stands after all of them.
 */
export const ROOMS = {
  kernel: [],
  platform: ['tls', 'state', 'leases', 'listener', 'engine', 'http', 'credentials', 'webhooks', 'notifications'],
  management: [
    'organizations',
    'idempotency',
    'hand-outs',
    'audit',
    'keys',
    'services',
    'roles',
    'members',
    'notifications',
    'billing',
  ],
  running: ['drivers', 'proxy', 'queries', 'autoscaling', 'reconciliation', 'backups'],
  observability: [
    'expressions',
    'tokens',
    'own-telemetry',
    'ingest',
    'sources',
    'charts',
    'search',
    'traces',
    'dashboards',
    'alerts',
    'links',
    'annotations',
  ],
  operations: ['fleet', 'setup', 'demo', 'backup'],
  console: [],
  server: [],
  cli: [],
};
const ORDER = Object.keys(ROOMS);

/** The parts of the platform are independent of each other, except for these. */
const PLATFORM_IMPORTS = {
  http: ['tls'],
  leases: ['state'],
  engine: ['listener'],
  credentials: ['state'],
  notifications: ['state', 'webhooks'],
};

/** The only places that may import a library. */
const LIBRARIES = [
  {
    library: /^@?fastify(\/|$)/,
    mayImport: (file) => file.folder === 'http' || file.isRoutes,
    places: 'http/ and route files',
  },
  {
    library: /^(kysely|libsql|pg)(\/|$)/,
    mayImport: (file) => file.folder === 'state' || file.isStore,
    places: 'state/ and store files',
  },
  { library: /^(@clickhouse\/client|chdb)(\/|$)/, mayImport: (file) => file.folder === 'engine', places: 'engine/' },
  {
    library: /^(openid-client|jose)(\/|$)/,
    mayImport: (file) => file.path.startsWith('src/console/oidc/'),
    places: 'console/oidc/',
  },
  {
    library: /^@aws-sdk\//,
    mayImport: (file) => file.path.startsWith('src/running/backups/'),
    places: 'running/backups/',
  },
  { library: /^ffi-rs(\/|$)/, mayImport: (file) => file.folder === 'listener', places: 'listener/' },
];

/** Returns a message for each of the module specifiers in `imports` that the file at `path` must not import. */
export function findLayerViolations(path, imports) {
  if (path.startsWith('console/')) return checkConsole(path, imports);
  const file = classify(path);
  if (file.room === '') return [];
  if (!ORDER.includes(file.room)) return [`src/${file.room}/ is not a room; the rooms are ${ORDER.join(', ')}`];
  return imports.flatMap((name) => (name.startsWith('.') ? checkModule(file, name) : checkLibrary(file, name)));
}

/** The console is a client of the HTTP interfaces and shares no code with the server. */
function checkConsole(path, imports) {
  return imports
    .filter((name) => name.startsWith('.') && !join(dirname(path), name).startsWith('console/'))
    .map((name) => `${name}: the console uses the server through its generated client only`);
}

function classify(path) {
  const [, room = '', inner = ''] = /^src\/([^/]+)\/(?:([^/]+)\/)?/.exec(path) ?? [];
  const name = path.split('/').at(-1);
  return {
    path,
    room,
    /** The folder in a room that has an order; empty in the others. */
    folder: ROOMS[room]?.includes(inner) ? inner : '',
    /** The files of a domain that use HTTP. */
    isRoutes: /(^|-)(routes|authentication|request-actor)\.ts$/.test(name),
    isStore: /(^|-)store\.ts$/.test(name),
  };
}

function checkLibrary(file, name) {
  return LIBRARIES.filter(({ library, mayImport }) => library.test(name) && !mayImport(file)).map(
    ({ places }) => `${name}: only ${places} may import it`,
  );
}

function checkModule(file, name) {
  const target = classify(join(dirname(file.path), name));
  if (!existsSync(target.path)) return [`${name} does not exist`];
  if (target.room === file.room && target.folder === file.folder) return [];
  const reason = explainOrder(file, target) ?? explainPrivacy(file, target);
  return reason ? [`${name}: ${reason}`] : [];
}

function explainOrder(file, target) {
  if (target.room === '') return 'main.ts is the entry point; nothing imports it';
  if (file.room !== target.room) {
    const isLater = ORDER.indexOf(target.room) > ORDER.indexOf(file.room);
    return isLater ? `a room imports only the rooms before it: ${ORDER.join(', ')}` : undefined;
  }
  const folders = ROOMS[file.room];
  if (file.room === 'platform') {
    const allowed = PLATFORM_IMPORTS[file.folder] ?? [];
    return allowed.includes(target.folder)
      ? undefined
      : `platform/${file.folder} may import ${allowed.join(', ') || 'the kernel only'}`;
  }
  const isLater = folders.indexOf(target.folder) > folders.indexOf(file.folder);
  return isLater ? `a folder imports only the folders before it: ${folders.join(', ')}` : undefined;
}

function explainPrivacy(file, target) {
  // The composition root mounts routes and passes functions of stores on.
  if (file.room === 'server') return undefined;
  if (target.folder === 'http') return file.isRoutes || file.room === 'cli' ? undefined : 'only routes use HTTP';
  if (target.room === 'platform') return undefined;
  if (file.room === 'cli') return target.isStore || target.isRoutes ? 'the CLI uses operations' : undefined;
  // request-actor.ts provides the actor of a request to the routes of other domains.
  if (target.isRoutes && !target.path.endsWith('request-actor.ts')) return 'routes are private to their domain';
  if (target.isStore && file.folder !== 'fleet') return 'stores are private to their domain; use its operations';
  return undefined;
}
