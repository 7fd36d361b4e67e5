import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../../kernel/time/clock.ts';
import { unobserved } from '../state.ts';
import { openLibsql } from './libsql.ts';

it('a write after the store was closed is rejected and does not end the process', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-state-'));
  const state = openLibsql(join(directory, 'state.db'), systemClock, unobserved);
  const before = state.write(async () => 'before');
  await state.close();
  expect(await before).toBe('before');
  await expect(state.write(async () => 'after')).rejects.toThrow('The state store is closed');
  rmSync(directory, { recursive: true, force: true });
});
