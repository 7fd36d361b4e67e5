import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { onEachStore, useServer } from '../../support/server.ts';
import { describeClient, installFromPyPi } from '../install.ts';

const PACKAGE = 'schemathesis==4.32.5';
const CONFIG = join(import.meta.dirname, '../schemathesis.toml');
/** Per operation, in the fuzzing phase. With those of the coverage phase, about 13,000 cases in all. */
const EXAMPLES = 10;
const MIN_CASES = 10_000;
const MAX_MS = 2 * 3_600_000;

describeClient(
  PACKAGE,
  () => installFromPyPi(PACKAGE),
  (programs) => {
    onEachStore('schemathesis', (store) => {
      const server = useServer(store, { args: ['--max-keys', '1000', '--log-level', 'error'], inProcess: false });

      it('finds no failure with all checks', { timeout: MAX_MS }, () => {
        const paths = ['--exclude-path-regex', '^/console'];
        const limits = ['--max-examples', String(EXAMPLES), '--phases', 'examples,coverage,fuzzing', '--workers', '1'];
        const { status, stdout, stderr } = spawnSync(
          join(programs, 'schemathesis'),
          ['--config-file', CONFIG, 'run', `${server.url}/openapi.json`, ...paths, ...limits],
          { cwd: mkdtempSync(join(tmpdir(), 'pilothouse-test-')), encoding: 'utf8', maxBuffer: 2 ** 28 },
        );
        expect(status, stdout.slice(-20_000) + stderr.slice(-2_000)).toBe(0);
        const [, cases] = /(\d+) generated/.exec(stdout) ?? [];
        expect(Number(cases)).toBeGreaterThanOrEqual(MIN_CASES);
      });
    });
  },
);
