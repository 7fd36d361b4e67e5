import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAllowedLicense, listShippedPackages } from '../../tools/shipped-packages.mjs';
import type { Json } from '../support/client.ts';

const root = join(import.meta.dirname, '../..');
const shipped = listShippedPackages();
const label = ({ name, version }: { name: string; version: string }) => `${name}@${version}`;

describe('the packages that users receive', () => {
  it('include those of the server, of other platforms, and those bundled into the console', () => {
    const names = shipped.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['fastify', '@libsql/darwin-arm64', 'react', '@mantine/core', 'uplot']),
    );
    expect(names).not.toContain('vitest');
    expect(shipped.filter(({ isBundled }) => isBundled).length).toBeGreaterThan(20);
  });

  it('each have a license from the list', () => {
    const others = shipped.filter(({ license }) => !isAllowedLicense(license));
    expect(isAllowedLicense('GPL-3.0-only')).toBe(false);
    expect(others.map((found) => `${label(found)}: ${found.license}`)).toEqual([]);
  });

  it('are listed in the package, with the license text of those that are part of its files', () => {
    const text = readFileSync(join(root, 'dist/third-party-licenses.txt'), 'utf8');
    for (const { name, version, license } of shipped) expect(text).toContain(`  ${name} ${version}  ${license}\n`);
    const sections = text.split(`\n${'-'.repeat(80)}\n`).slice(1);
    const bundled = shipped.filter(({ isBundled }) => isBundled);
    expect(sections.map((section) => section.split('\n')[0])).toEqual(
      bundled.map(({ name, version }) => `${name} ${version}`),
    );
    for (const section of sections) expect(section).toMatch(/copyright|license: /i);
  });
});

describe('the SBOM', () => {
  it('lists exactly these packages in the CycloneDX format, with the packages that need them', () => {
    const sbom: Json = JSON.parse(execFileSync('node', ['tools/sbom.mjs'], { cwd: root, encoding: 'utf8' }));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'pilothouse', version } } });
    const listed: string[] = sbom.components.map((component: Json) => component['bom-ref']);
    expect(listed.sort()).toEqual([...new Set(shipped.map(label))].sort());
    const known = new Set([...listed, `pilothouse@${version}`]);
    for (const { ref, dependsOn } of sbom.dependencies)
      expect([ref, ...dependsOn].filter((found: string) => !known.has(found))).toEqual([]);
    expect(sbom.components.filter(({ licenses }: Json) => licenses === undefined)).toEqual([]);
  });
});
