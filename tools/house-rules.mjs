// The house rules that no linter knows. Part of `npm run check`; every finding is a failure.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { layeringMistakes } from './layers.mjs';

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '');
const findings = [];
const find = (file, line, rule) => findings.push(`${file}${line ? `:${line}` : ''}  ${rule}`);

const LONGEST_FILE = 300;
const ALLOWED_CLOCKS = new Set(['src/kernel/clock.ts', 'src/state/libsql.ts']);
const UNSURE_NAMES = /(^|\/)(utils?|helpers?|common|shared|manager|misc)(\/|\.|$)/;

for (const file of files) {
  if (UNSURE_NAMES.test(file)) find(file, 0, 'a name that says nothing');
  if (/(^|\/)(node_modules|dist|\.pilothouse)\//.test(file))
    find(file, 0, 'generated or installed, does not belong in git');
  if (!/\.(ts|tsx|mjs)$/.test(file)) continue;
  const text = readFileSync(file, 'utf8');
  const lines = text.split('\n');
  const isTest = /\.test\.ts$/.test(file) || file.startsWith('test/');
  const isProgram = /^(src|console)\//.test(file);
  if (isProgram && !isTest && lines.length > LONGEST_FILE)
    find(file, 0, `${lines.length} lines; past ${LONGEST_FILE}, split by meaning`);
  if (isProgram && !/^[a-z0-9./-]+$/.test(file)) find(file, 0, 'file names are kebab-case');
  const imports = [...text.matchAll(/^(?:import|export)\b[^;]*?['"]([^'"]+)['"];$|\bimport\('([^']+)'\)/gm)].map(
    ([, named, lazy]) => named ?? lazy,
  );
  if (!isTest) for (const mistake of layeringMistakes(file, imports)) find(file, 0, mistake);
  lines.forEach((line, index) => {
    if (/\b(it|test|describe)\.(skip|only|todo|fails)\b|\bx(it|describe)\(/.test(line))
      find(file, index + 1, 'a skipped, focused or unwritten test');
    if (/\bvi\.(mock|doMock|stubGlobal)\(/.test(line)) find(file, index + 1, 'a mock; use the real thing');
    if (/@ts-(ignore|nocheck|expect-error)/.test(line) && !file.startsWith('tools/'))
      find(file, index + 1, 'a type error that is hidden');
    if (file.startsWith('src/') && !isTest && file !== 'src/main.ts' && /process\.(argv|env|exit)\b/.test(line))
      find(file, index + 1, 'only main.ts reads the process');
    if (file.startsWith('src/') && !isTest && /\bDate\.now\(\)|new Date\(\)/.test(line) && !ALLOWED_CLOCKS.has(file))
      find(file, index + 1, 'time comes from the clock that was handed in');
  });
}

for (const file of ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'LICENSE', '.ci/run']) {
  if (!files.includes(file)) find(file, 0, 'is missing');
}

if (readFileSync('package-lock.json', 'utf8').includes('"resolved":'))
  find('package-lock.json', 0, 'carries download addresses');

if (findings.length > 0) {
  console.error(findings.join('\n'));
  console.error(`\n${findings.length} house rule${findings.length === 1 ? '' : 's'} broken.`);
  process.exit(1);
}
