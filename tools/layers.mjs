// Who may import whom. Part of `npm run check`; `npm run check` fails for every import that is not allowed here.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Right may use left, never the reverse. */
const DOMAINS = [
  'organizations',
  'audit',
  'keys',
  'tokens',
  'services',
  'billing',
  'telemetry',
  'sources',
  'charts',
  'dashboards',
  'console',
  'fleet',
  'demo',
];

/** The folders below the domains, and what of ours each may import. */
const FOUNDATIONS = {
  kernel: [],
  state: ['kernel'],
  engine: ['kernel'],
  http: ['kernel'],
  expressions: ['kernel', 'engine'],
  credentials: ['kernel', 'state'],
};

/** Each library has one door. */
const DOORS = [
  { library: /^@?fastify(\/|$)/, door: (file) => file.folder === 'http' || file.isEdge, is: 'http/ and routes' },
  {
    library: /^(kysely|libsql|pg)(\/|$)/,
    door: (file) => file.folder === 'state' || file.isStore,
    is: 'state/ and stores',
  },
  { library: /^(@clickhouse\/client|chdb)(\/|$)/, door: (file) => file.folder === 'engine', is: 'engine/' },
];

/** `path` is that of a source file, `imports` what stands behind its `from` and `import(…)`; answers the mistakes. */
export function layeringMistakes(path, imports) {
  if (path.startsWith('console/')) return consoleMistakes(path, imports);
  const file = place(path);
  if (file.folder === '') return [];
  return imports.flatMap((name) => (name.startsWith('.') ? ownMistakes(file, name) : libraryMistakes(file, name)));
}

/** The console is one more client of the HTTP interfaces: it knows the program only by its OpenAPI document. */
function consoleMistakes(path, imports) {
  return imports
    .filter((name) => name.startsWith('.') && !join(dirname(path), name).startsWith('console/'))
    .map((name) => `${name}: the console knows the server by its generated client only`);
}

function place(path) {
  const [, folder = ''] = /^src\/([^/]+)\//.exec(path) ?? [];
  const name = path.split('/').at(-1);
  return {
    path,
    folder,
    isDomain: DOMAINS.includes(folder),
    /** Where a domain meets HTTP. */
    isEdge: /(^|-)(routes|authentication|request-actor)\.ts$/.test(name),
    isStore: /(^|-)store\.ts$/.test(name),
  };
}

function libraryMistakes(file, name) {
  return DOORS.filter(({ library, door }) => library.test(name) && !door(file)).map(
    ({ is }) => `${name} has one door: ${is}`,
  );
}

function ownMistakes(file, name) {
  const target = place(join(dirname(file.path), name));
  if (!existsSync(target.path)) return [`${name} does not exist`];
  if (target.folder === file.folder) return [];
  const reason = refusal(file, target);
  return reason ? [`${name}: ${reason}`] : [];
}

function refusal(file, target) {
  if (target.folder === 'cli') return 'nobody imports the CLI';
  if (file.folder === 'cli') return target.isStore || target.isEdge ? 'the CLI uses operations' : undefined;
  if (target.folder === '') return 'the composition root imports the parts, never the reverse';
  if (file.folder in FOUNDATIONS) {
    const allowed = FOUNDATIONS[file.folder];
    return allowed.includes(target.folder) ? undefined : `${file.folder} may import ${allowed.join(', ') || 'nothing'}`;
  }
  if (target.folder === 'http') return file.isEdge ? undefined : 'only routes and authentication know HTTP';
  if (!target.isDomain) return undefined;
  if (DOMAINS.indexOf(target.folder) > DOMAINS.indexOf(file.folder)) return `right uses left: ${DOMAINS.join(' → ')}`;
  // Helping the routes of another domain to name who acts is what request-actor.ts is for.
  if (target.isEdge && !target.path.endsWith('request-actor.ts')) return 'the routes of a domain are its own';
  if (target.isStore && file.folder !== 'fleet') return 'the store of a domain is its own; use its operations';
  return undefined;
}
