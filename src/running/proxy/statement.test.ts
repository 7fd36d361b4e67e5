import { describe, expect, it } from 'vitest';
import { findKind, normalizeStatement } from './statement.ts';

describe('statements', () => {
  it.each([
    ['SELECT 1', 'SELECT'],
    ['  \n(select 1)', 'SELECT'],
    ['-- a comment\n/* another /* */ insert into t', 'INSERT'],
    ['# a comment\nWITH x AS (SELECT 1) SELECT x', 'WITH'],
    ['secretword and more', 'OTHER'],
    ['', 'UNKNOWN'],
    ['/* not closed', 'UNKNOWN'],
    [undefined, 'UNKNOWN'],
  ] as const)('%j is of kind %s', (statement, kind) => {
    expect(findKind(statement)).toBe(kind);
  });

  it('case, white space and final semicolons make no difference', () => {
    expect(normalizeStatement(' select\n\t1 ; ;\n')).toBe(normalizeStatement('SELECT 1'));
    expect(normalizeStatement("SELECT 'a;'")).toBe("select 'a;'");
  });
});
