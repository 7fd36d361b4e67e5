// The imports that each folder may have. Part of `npm run check`.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A domain may import the domains above it, never those below. */
const DOMAINS = [
  'organizations',
  'idempotency',
  'audit',
  'keys',
  'tokens',
  'services',
  'roles',
  'billing',
  'autoscaling',
  'reconciliation',
  'telemetry',
  'sources',
  'charts',
  'dashboards',
  'console',
  'fleet',
  'setup',
  'demo',
  'backup',
];

/** The folders that domains build on, and the folders that each may import. */
const FOUNDATIONS = {
  kernel: [],
  state: ['kernel'],
  listener: ['kernel'],
  engine: ['kernel', 'listener'],
  http: ['kernel'],
  expressions: ['kernel', 'engine'],
  credentials: ['kernel', 'state'],
  webhooks: ['kernel'],
  workers: ['kernel'],
  drivers: ['kernel', 'listener', 'webhooks'],
  proxy: ['kernel', 'credentials', 'drivers'],
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
  { library: /^ffi-rs(\/|$)/, mayImport: (file) => file.folder === 'listener', places: 'listener/' },
];

/** Returns a message for each of the module specifiers in `imports` that the file at `path` must not import. */
export function findLayerViolations(path, imports) {
  if (path.startsWith('console/')) return checkConsole(path, imports);
  const file = classify(path);
  if (file.folder === '') return [];
  return imports.flatMap((name) => (name.startsWith('.') ? checkModule(file, name) : checkLibrary(file, name)));
}

/** The console is a client of the HTTP interfaces and shares no code with the server. */
function checkConsole(path, imports) {
  return imports
    .filter((name) => name.startsWith('.') && !join(dirname(path), name).startsWith('console/'))
    .map((name) => `${name}: the console uses the server through its generated client only`);
}

function classify(path) {
  const [, folder = ''] = /^src\/([^/]+)\//.exec(path) ?? [];
  const name = path.split('/').at(-1);
  return {
    path,
    folder,
    isDomain: DOMAINS.includes(folder),
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
  if (target.folder === file.folder) return [];
  const reason = explainViolation(file, target);
  return reason ? [`${name}: ${reason}`] : [];
}

function explainViolation(file, target) {
  if (target.folder === 'cli') return 'only main.ts imports the CLI';
  if (file.folder === 'cli') return target.isStore || target.isRoutes ? 'the CLI uses operations' : undefined;
  if (target.folder === '') return 'only the CLI and main.ts import the composition root';
  if (file.folder in FOUNDATIONS) {
    const allowed = FOUNDATIONS[file.folder];
    return allowed.includes(target.folder) ? undefined : `${file.folder} may import ${allowed.join(', ') || 'nothing'}`;
  }
  if (target.folder === 'http') return file.isRoutes ? undefined : 'only routes and authentication use HTTP';
  return target.isDomain ? explainDomainViolation(file, target) : undefined;
}

function explainDomainViolation(file, target) {
  if (DOMAINS.indexOf(target.folder) > DOMAINS.indexOf(file.folder))
    return `a domain imports only the domains before it: ${DOMAINS.join(', ')}`;
  // request-actor.ts provides the actor of a request to the routes of other domains.
  if (target.isRoutes && !target.path.endsWith('request-actor.ts')) return 'routes are private to their domain';
  if (target.isStore && file.folder !== 'fleet') return 'stores are private to their domain; use its operations';
  return undefined;
}
