import { describe, expect, it } from 'vitest';
import { findUnusedExports } from '../../tools/unused-exports.mjs';

function find(sources: Record<string, string>) {
  const { unused, testOnly } = findUnusedExports(new Map(Object.entries(sources)));
  const format = ({ path, name }: { path: string; name: string }) => `${path} ${name}`;
  return { unused: unused.map(format), testOnly: testOnly.map(format) };
}

describe('findUnusedExports', () => {
  it('reports exports that no module imports, types included', () => {
    const sources = {
      'src/main.ts': "import { used, type Used } from './keys/key.ts';",
      'src/keys/key.ts': 'export const used = 1, unused = 2; export interface Used {} export type Unused = 1;',
    };
    expect(find(sources).unused).toEqual(['src/keys/key.ts unused', 'src/keys/key.ts Unused']);
  });

  it('reports a module that nothing imports', () => {
    expect(find({ 'src/main.ts': '', 'src/keys/key.ts': 'export const a = 1;' }).unused).toEqual(['src/keys/key.ts *']);
  });

  it('counts dynamic, namespace, re-exported and type imports', () => {
    const sources = {
      'src/main.ts': "import * as a from './a.ts'; await import('./b.ts'); type C = import('./c.ts').C; a;",
      'src/a.ts': "export { d } from './d.ts'; export const a = 1;",
      'src/b.ts': 'export const b = 1;',
      'src/c.ts': 'export type C = 1;',
      'src/d.ts': 'export const d = 1;',
    };
    expect(find(sources)).toEqual({ unused: [], testOnly: [] });
  });

  it('counts an interface that another module extends with `declare module`', () => {
    const sources = {
      'src/main.ts': "import { a } from './a.ts';",
      'src/a.ts': 'export const a = 1; export interface Names {}',
      'src/names.ts': "export interface More {} declare module './a.ts' { interface Names extends More {} }",
    };
    expect(find(sources)).toEqual({ unused: [], testOnly: [] });
  });

  it('lists exports that only tests import', () => {
    const sources = {
      'src/main.ts': "import { a } from './a.ts';",
      'src/a.ts': 'export const a = 1; export const b = 1;',
      'src/a.test.ts': "import { b } from './a.ts';",
    };
    expect(find(sources)).toEqual({ unused: [], testOnly: ['src/a.ts b'] });
  });
});
