// The house rules that the linter cannot check. Part of `npm run check`; every finding is a failure.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path/posix';
import { findLayerViolations, ROOMS } from './layers.mjs';

const MAX_LINES = 300;
/** In one folder, without tests. */
const MAX_FILES = 25;
const REQUIRED_FILES = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'LICENSE', '.ci/run'],
  ...Object.keys(ROOMS).map((room) => `src/${room}/README.md`),
];
const CLOCK_FILES = ['src/kernel/time/clock.ts', 'src/platform/state/libsql/libsql.ts'];
/** Tests whose data contains guillemets, to show that any character survives. */
const GUILLEMET_DATA = ['test/cli/export.test.ts'];
/** Words of JSON Schema. */
const ALLOWED_OF_NAMES = ['oneOf', 'anyOf', 'allOf'];

const isCode = (path) => /\.(ts|tsx|mjs)$/.test(path);
const isTest = (path) => isCode(path) && (path.startsWith('test/') || /\.test\.tsx?$/.test(path));
const isProgram = (path) => isCode(path) && /^(src|console)\//.test(path) && !isTest(path);
const isServer = (path) => isProgram(path) && path.startsWith('src/');
const isProductOrTest = (path) => isCode(path) && /^(src|console|test)\//.test(path);
const isProse = (path) => path.endsWith('.md') && path.startsWith('docs/');

/** Rules on a single line: a line in one of the files must not match the pattern. */
const LINE_RULES = [
  {
    message: 'a skipped, focused or unwritten test',
    files: isCode,
    pattern: /\b(it|test|describe)\.(skip|only|todo|fails)\b|\bx(it|describe)\(/,
  },
  { message: 'a mock; use the real thing', files: isCode, pattern: /\bvi\.(mock|doMock|stubGlobal)\(/ },
  {
    message: 'a suppressed type error',
    files: (path) => isCode(path) && !path.startsWith('tools/'),
    pattern: /@ts-(ignore|nocheck|expect-error)/,
  },
  {
    message: 'only main.ts reads process.argv and process.env or exits',
    files: (path) => isServer(path) && path !== 'src/main.ts',
    pattern: /process\.(argv|env|exit)\b/,
  },
  {
    message: 'take the time from the clock that is passed in',
    files: (path) => isServer(path) && !CLOCK_FILES.includes(path),
    pattern: /\bDate\.now\(\)|new Date\(\)/,
  },
  {
    message: 'limit the time with limitTime: on Node 20, AbortSignal.timeout may never fire',
    files: (path) => isServer(path) && path !== 'src/kernel/tasks/time-limit.ts',
    pattern: /AbortSignal\.timeout\(/,
  },
  {
    message: 'read what another system sends with readLimited',
    files: (path) => isServer(path) && !path.startsWith('src/cli/') && path !== 'src/kernel/read-limited.ts',
    pattern: /\bresponse\.(?:(?:text|json|arrayBuffer|blob|bytes)\(|on\('data')/,
  },
  {
    message: 'SQL for one store belongs to platform/state',
    files: (path) => isServer(path) && /store\.ts$/.test(path) && !/^src\/platform\/state\//.test(path),
    pattern: /::(text|bigint)\b|\bunnest\(|\bjson_each\(|\bisPostgres\b/,
  },
  {
    message: 'write roles as the named sets, not as strings',
    files: (path) => /(^|-|\/)routes\.ts$/.test(path),
    pattern: /\[\s*'(admin|developer)'/,
  },
  {
    message: 'a fixed sleep of a second or more; wait for the condition',
    files: isTest,
    pattern: /\b(delay|sleep|waitForTimeout)\((\d_?){4,}\b|\bsetTimeout\(\w+, (\d_?){4,}\)/,
  },
  {
    message: 'quotation marks are "…", not guillemets',
    files: (path) => (isProductOrTest(path) || isProse(path)) && !GUILLEMET_DATA.includes(path),
    pattern: /[«»]/,
  },
  {
    message: 'name a function after its result: list…, parse…, to…, not …Of',
    files: isCode,
    pattern: new RegExp(
      `(?:\\bfunction\\*? |\\b(?:const|let) )(?!(?:${ALLOWED_OF_NAMES.join('|')})\\b)\\w*[a-z0-9]Of\\b(?:\\s*[(<]|\\s*=\\s*(?:async\\s*)?(?:<[^=]*>)?\\()`,
    ),
  },
];

/** Rules on a single line of a comment. */
const COMMENT_RULES = [
  {
    message: 'name the component or the caller, not a person',
    files: isProductOrTest,
    pattern: /\b(whoever|somebody|anybody|nobody|everybody)\b/i,
  },
];

const paths = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && existsSync(path));
const findings = [
  ...REQUIRED_FILES.filter((path) => !paths.includes(path)).map((path) => `${path}  is missing`),
  ...paths.flatMap(checkPath),
  ...checkFolders(),
  ...checkLockFile(),
  ...paths.filter((path) => isCode(path) || isProse(path)).flatMap(checkText),
];
if (findings.length > 0) {
  console.error(findings.join('\n'));
  console.error(`\n${findings.length} violation${findings.length === 1 ? '' : 's'} of the house rules.`);
  process.exit(1);
}

function checkPath(path) {
  const messages = [];
  if (/(^|\/)(utils?|helpers?|common|shared|manager|misc)(\/|\.|$)/.test(path))
    messages.push('a name without a meaning');
  if (/(^|\/)(node_modules|dist|\.pilothouse)\//.test(path)) messages.push('generated or installed; not for git');
  if (isProgram(path) && !/^[a-z0-9./-]+$/.test(path)) messages.push('file names are kebab-case');
  return messages.map((message) => `${path}  ${message}`);
}

function checkFolders() {
  const counts = new Map();
  for (const folder of paths.filter(isProgram).map(dirname)) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > MAX_FILES)
    .map(([folder, count]) => `${folder}  ${count} files; split it by subject, ${MAX_FILES} are the limit`);
}

function checkLockFile() {
  const hasAddress = readFileSync('package-lock.json', 'utf8').includes('"resolved":');
  return hasAddress ? ['package-lock.json  contains download addresses'] : [];
}

function checkText(path) {
  const text = readFileSync(path, 'utf8');
  const lines = text.split('\n');
  const findings = isTest(path) || !isCode(path) ? [] : findLayerViolations(path, listImports(text));
  if (isProgram(path) && lines.length > MAX_LINES)
    findings.push(`${lines.length} lines; split it, ${MAX_LINES} are the limit`);
  return [
    ...findings.map((message) => `${path}  ${message}`),
    ...checkLines(path, lines, LINE_RULES),
    ...checkLines(path, listComments(text), COMMENT_RULES),
  ];
}

function checkLines(path, lines, rules) {
  const applicable = rules.filter(({ files }) => files(path));
  return lines.flatMap((line, index) =>
    applicable.filter(({ pattern }) => pattern.test(line)).map(({ message }) => `${path}:${index + 1}  ${message}`),
  );
}

/** The specifiers of static and dynamic imports. */
function listImports(text) {
  const imports = text.matchAll(/^(?:import|export)\b[^;]*?['"]([^'"]+)['"];$|\bimport\('([^']+)'\)/gm);
  return [...imports].map(([, named, dynamic]) => named ?? dynamic);
}

/** The text of the comments, line by line; a line without a comment is empty. The `//` of a URL does not start a comment. */
function listComments(text) {
  const comments = text.split('\n').map(() => '');
  for (const { 0: comment, index } of text.matchAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g)) {
    const first = text.slice(0, index).split('\n').length - 1;
    for (const [offset, line] of comment.split('\n').entries()) comments[first + offset] += line;
  }
  return comments;
}
