// The third-party packages that users receive: those bundled into dist/, and those that npm installs with Pilothouse.
import { readFileSync } from 'node:fs';

/** Written by the build: the names of the packages whose code is in dist/. */
export const BUNDLED_PACKAGES_FILE = 'dist/bundled-packages.json';

/** Licenses that allow Pilothouse to be distributed under Apache-2.0, with no more than a notice. */
const ALLOWED_LICENSES = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0'];

/** Of alternatives such as `(MPL-2.0 OR Apache-2.0)`, one must be allowed. */
export const isAllowedLicense = (license) =>
  license
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((alternative) => ALLOWED_LICENSES.includes(alternative));

/** `/…/node_modules/@mantine/core/esm/x.mjs` → `@mantine/core`; undefined for a module of our own. */
export function findPackageName(moduleId) {
  const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(moduleId) ?? [];
  return name;
}

/** Sorted by name. A package of which two versions are installed is listed twice. */
export function listShippedPackages() {
  const bundled = new Set(JSON.parse(readFileSync(BUNDLED_PACKAGES_FILE, 'utf8')));
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, { version, license = 'unknown', dev = false }]) => {
      const name = findPackageName(`/${path}/`);
      return {
        path,
        name,
        version,
        license,
        isInstalled: !dev,
        isBundled: path === `node_modules/${name}` && bundled.has(name),
      };
    })
    .filter(({ isInstalled, isBundled }) => isInstalled || isBundled)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
