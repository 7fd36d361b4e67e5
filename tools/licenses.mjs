// Writes the licenses of the packages that users receive to dist/. Part of the build.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUNDLED_PACKAGES_FILE, findPackageName, listShippedPackages } from './shipped-packages.mjs';

const LICENSE_FILE = /^(licen[cs]e|copying|notice)(\.(md|txt))?$/i;

/** `moduleIds`: the paths of all modules in dist/. */
export function writeLicenses(moduleIds) {
  const names = new Set(moduleIds.map(findPackageName).filter((name) => name !== undefined));
  writeFileSync(BUNDLED_PACKAGES_FILE, `${JSON.stringify([...names].sort(), null, 2)}\n`);
  const shipped = listShippedPackages();
  const bundled = shipped.filter(({ isBundled }) => isBundled);
  const installed = shipped.filter(({ isBundled }) => !isBundled);
  const text = [
    'Pilothouse is distributed with the packages below, each under its own license.',
    '',
    'Installed by npm next to Pilothouse, each with its license text (of packages for one platform, only yours):',
    '',
    ...installed.map(({ name, version, license }) => `  ${name} ${version}  ${license}`),
    '',
    'Part of the files in dist/:',
    '',
    ...bundled.map(({ name, version, license }) => `  ${name} ${version}  ${license}`),
    ...bundled.flatMap(formatText),
  ];
  writeFileSync('dist/third-party-licenses.txt', `${text.join('\n')}\n`);
}

function formatText({ path, name, version, license }) {
  const files = readdirSync(path).filter((file) => LICENSE_FILE.test(file));
  const texts = files.sort().map((file) => readFileSync(join(path, file), 'utf8').trim());
  // A package without a file states its license and author in package.json.
  const { author } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const stated = `License: ${license}\nAuthor: ${(typeof author === 'string' ? author : author?.name) ?? 'not stated'}`;
  return ['', '-'.repeat(80), `${name} ${version}`, '', texts.length > 0 ? texts.join('\n\n') : stated];
}
