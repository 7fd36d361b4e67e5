// node tools/sbom.mjs > sbom.json: a CycloneDX document of Pilothouse and the packages that users receive. Needs a build.
import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { listShippedPackages } from './shipped-packages.mjs';

/** npm lists development packages too: those bundled into dist/ stay, with a scope that says that they are needed. */
export function createSbom() {
  const output = execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  });
  const document = JSON.parse(output);
  const shipped = new Map(listShippedPackages().map((found) => [`${found.name}@${found.version}`, found]));
  const { component } = document.metadata;
  // npm takes the name of the folder.
  Object.assign(component, { name: 'pilothouse', type: 'application' });
  const isKept = (ref) => ref === component['bom-ref'] || shipped.has(ref);
  document.components = document.components
    .filter((found) => shipped.has(found['bom-ref']))
    .map((found) => (shipped.get(found['bom-ref']).isBundled ? markBundled(found) : found));
  document.dependencies = document.dependencies
    .filter(({ ref }) => isKept(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isKept) }));
  return document;
}

const DEVELOPMENT = 'cdx:npm:package:development';
const markBundled = (component) => ({
  ...component,
  scope: 'required',
  properties: [
    ...component.properties.filter(({ name }) => name !== DEVELOPMENT),
    { name: 'cdx:npm:package:bundled', value: 'true' },
  ],
});

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(JSON.stringify(createSbom(), null, 2));
