// Finds exports that no other module imports. Part of `npm run check`.
//   node tools/unused-exports.mjs              lists them and exits with 1
//   node tools/unused-exports.mjs --fix        drops the keyword `export`; the lint then reports the code that is dead
//   node tools/unused-exports.mjs --test-only  lists the exports that only tests import; these are allowed
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { GENERATED_CLIENT, writeConsoleClient } from './console-client.mjs';

/** Modules that a build, a script or a configuration file loads by name. */
const ENTRY_POINTS = [
  'src/main.ts',
  'src/platform/listener/program/main.ts',
  'src/operations/demo/telemetry/main.ts',
  'console/src/main.tsx',
  'console/vite.config.ts',
  GENERATED_CLIENT,
  'vitest.config.ts',
  'test/support/global-setup.ts',
  'test/support/property-seed.ts',
  'test/clients/node/otel-app.mjs',
];
const isTest = (path) => path.startsWith('test/') || /\.test\.tsx?$/.test(path);
const isEntryPoint = (path) =>
  ENTRY_POINTS.includes(path) || /\.test\.tsx?$/.test(path) || /^(bench|examples|tools)\/[^/]+\.mjs$/.test(path);

/**
 * `sources` maps each module's path to its text. Returns the exports without an importer and those that only tests import.
 * The name is `*` for a module that nothing imports at all.
 */
export function findUnusedExports(sources) {
  const modules = new Map([...sources].map(([path, text]) => [path, readModule(path, text)]));
  const uses = countUses(modules);
  const unused = [];
  const testOnly = [];
  for (const [path, { exports, isAugmentation }] of modules) {
    const isImported = uses.has(`${path} *`);
    const isScript = /^(bench|tools)\//.test(path);
    if (isAugmentation || (isEntryPoint(path) && !(isScript && isImported))) continue;
    for (const { name, start } of isImported ? exports : [{ name: '*' }]) {
      const use = uses.get(`${path} ${name}`);
      if (use === undefined) unused.push({ path, name, start });
      else if (use === 'test') testOnly.push({ path, name, start });
    }
  }
  return { unused, testOnly };
}

/** `path name` → 'test' if only tests import it, 'code' otherwise. */
function countUses(modules) {
  const uses = new Map();
  const add = (importer, path, name) => {
    const key = `${path} ${name}`;
    if (uses.get(key) !== 'code') uses.set(key, isTest(importer) && !isTest(path) ? 'test' : 'code');
  };
  for (const [importer, { imports }] of modules) {
    for (const { specifier, name } of imports) {
      const path = join(dirname(importer), specifier);
      add(importer, path, '*');
      // A namespace or dynamic import may use any export.
      const names = name === '*' ? (modules.get(path)?.exports.map((exported) => exported.name) ?? []) : [name];
      for (const used of names) add(importer, path, used);
    }
  }
  return uses;
}

function readModule(path, text) {
  const lang = /\.tsx$/.test(path) ? 'tsx' : /\.ts$/.test(path) ? 'ts' : 'js';
  const program = parseAst(text, { lang, sourceType: 'module' });
  const augmentations = program.body.flatMap(listAugmented);
  const imports = [...program.body.flatMap(listImports), ...augmentations];
  // Walking the whole tree is slow; few modules need it.
  if (/\bimport\(/.test(text)) visit(program, (node) => imports.push(...listInnerImports(node)));
  return {
    imports: imports.filter(({ specifier }) => specifier?.startsWith('.')),
    exports: program.body.flatMap(listExports),
    isAugmentation: augmentations.length > 0,
  };
}

function listImports({ type, source, specifiers }) {
  if (!source) return [];
  if (type === 'ExportAllDeclaration') return [{ specifier: source.value, name: '*' }];
  if (specifiers.length === 0) return [{ specifier: source.value, name: '' }];
  return specifiers.map((specifier) => ({ specifier: source.value, name: importedName(specifier) }));
}

function importedName({ type, imported, local }) {
  if (type === 'ImportDefaultSpecifier') return 'default';
  if (type === 'ImportNamespaceSpecifier') return '*';
  return (imported ?? local).name;
}

/** `import('…')` as an expression and as a type. */
function listInnerImports({ type, source, qualifier }) {
  if (type === 'ImportExpression') return [{ specifier: source.value, name: '*' }];
  if (type === 'TSImportType') return [{ specifier: source.value, name: qualifier?.name ?? '*' }];
  return [];
}

/** The interfaces that `declare module './….ts'` extends; the compiler finds such a module without an import. */
function listAugmented({ type, id, body }) {
  if (type !== 'TSModuleDeclaration' || !id.value?.startsWith('.')) return [];
  return body.body.map((declaration) => ({ specifier: id.value, name: declaration.id?.name ?? '' }));
}

/** `start` is the position of the keyword `export` where removing it is enough. */
function listExports({ type, declaration, specifiers, start }) {
  if (type === 'ExportDefaultDeclaration') return [{ name: 'default' }];
  if (type !== 'ExportNamedDeclaration') return [];
  if (!declaration) return specifiers.map(({ exported }) => ({ name: exported.name }));
  if (declaration.type !== 'VariableDeclaration') return [{ name: declaration.id.name, start }];
  const names = declaration.declarations.flatMap(({ id }) => listBoundNames(id));
  return names.map((name) => ({ name, start: names.length === 1 ? start : undefined }));
}

function listBoundNames(pattern) {
  if (!pattern) return [];
  if (pattern.type === 'Identifier') return [pattern.name];
  if (pattern.type === 'ArrayPattern') return pattern.elements.flatMap(listBoundNames);
  if (pattern.type === 'ObjectPattern')
    return pattern.properties.flatMap(({ value, argument }) => listBoundNames(value ?? argument));
  return listBoundNames(pattern.left ?? pattern.argument);
}

function visit(node, see) {
  if (typeof node.type === 'string') see(node);
  for (const child of Object.values(node)) if (typeof child === 'object' && child !== null) visit(child, see);
}

function listModules() {
  // The generated client is not in git, but it imports from the console.
  writeConsoleClient();
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' });
  return [...listed.split('\n'), GENERATED_CLIENT].filter((path) => /\.(ts|tsx|mjs)$/.test(path) && existsSync(path));
}

/** Removes from the end of each file to its start, so that positions stay valid. */
function dropKeywords(unused) {
  for (const { path, start } of unused.toReversed()) {
    if (start === undefined) continue;
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.slice(0, start) + text.slice(start).replace(/^export /, ''));
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { unused, testOnly } = findUnusedExports(
    new Map(listModules().map((path) => [path, readFileSync(path, 'utf8')])),
  );
  if (process.argv.includes('--test-only')) for (const { path, name } of testOnly) console.log(`${path}  ${name}`);
  if (process.argv.includes('--fix')) dropKeywords(unused);
  for (const { path, name } of unused)
    console.error(`${path}  ${name === '*' ? 'no module imports this one' : `${name} is exported but never imported`}`);
  if (unused.length > 0) {
    console.error(`\n${unused.length} unused export${unused.length === 1 ? '' : 's'}.`);
    process.exit(1);
  }
}
