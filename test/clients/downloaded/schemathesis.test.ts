import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { onEachStore, useServer } from '../../support/server.ts';
import { describeClient, installFromPyPi } from '../install.ts';

const PACKAGE = 'schemathesis==4.32.5';
const CONFIG = join(import.meta.dirname, '../schemathesis.toml');
const HOOKS = join(import.meta.dirname, '../python');
/** Per operation, in the fuzzing phase. With those of the coverage phase, about 20,000 cases in all. */
const EXAMPLES = 10;
const MIN_CASES = 10_000;
const MAX_MS = 2 * 3_600_000;
/** Of each operation: a run in which the server rejects everything proves little. */
const MIN_ACCEPTED = 3;
/** Operations whose requests cannot be accepted, with the reason. */
const NEVER_ACCEPTED: Record<string, string> = {
  'POST /api/v2/connections': 'sources read the engine of the server',
  'PUT /api/v2/connections/{id}': 'as above',
  'DELETE /api/v2/connections/{id}': 'as above',
  'POST /api/v2/alerts/{id}/acknowledge': 'the alert must fire',
  'POST /api/v2/notifications/{id}/send-again': 'nothing was sent',
  'DELETE /v1/organizations/{organizationId}/services/{serviceId}/sql/queries/{queryId}': 'the statement must run',
  'POST /api/v2/search/tail': 'needs a header that makes the response endless',
};
/** So that no case is rejected because of them. */
const LIMITS = ['--max-keys', '--max-tokens', '--max-dashboards', '--max-sources', '--max-services'];
const ARGS = [
  ...LIMITS.map((flag) => `${flag}=100000`),
  '--endpoint-ports=0',
  '--webhook-allow-private=yes',
  '--simulated-transition=1ms',
  '--log-level=error',
];

type Statuses = Record<string, Record<string, number>>;
const countAccepted = (counts: Record<string, number>): number =>
  Object.entries(counts).reduce((sum, [status, count]) => sum + (/^[23]/.test(status) ? count : 0), 0);
const sum = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);

/** Generated requests have lines of many kilobytes. */
const shortenLines = (text: string): string => text.replace(/^(.{500}).*$/gm, '$1…');

/** One line per operation, those with the fewest accepted requests first. */
const formatStatuses = (statuses: Statuses): string =>
  Object.entries(statuses)
    .sort(([, a], [, b]) => countAccepted(a) - countAccepted(b))
    .map(([name, counts]) => `${String(countAccepted(counts)).padStart(5)} of ${sum(counts)} accepted: ${name}`)
    .join('\n');

describeClient(
  PACKAGE,
  () => installFromPyPi(PACKAGE),
  (programs) => {
    onEachStore('schemathesis', (store) => {
      const server = useServer(store, { args: ARGS, inProcess: false });

      it('finds no failure with all checks', { timeout: MAX_MS }, () => {
        const paths = ['--exclude-path-regex', '^/console'];
        const limits = ['--max-examples', String(EXAMPLES), '--phases', 'examples,coverage,fuzzing', '--workers', '1'];
        const cwd = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
        const statusFile = join(cwd, 'statuses.json');
        const { status, stdout, stderr } = spawnSync(
          join(programs, 'schemathesis'),
          ['--config-file', CONFIG, 'run', `${server.url}/openapi.json`, ...paths, ...limits],
          {
            cwd,
            env: {
              ...process.env,
              SCHEMATHESIS_HOOKS: 'schemathesis_hooks',
              PYTHONPATH: HOOKS,
              PYTHONDONTWRITEBYTECODE: '1',
              PILOTHOUSE_URL: server.url,
              PILOTHOUSE_STATUSES: statusFile,
            },
            encoding: 'utf8',
            maxBuffer: 2 ** 28,
          },
        );
        const statuses = JSON.parse(readFileSync(statusFile, 'utf8')) as Statuses;
        const [, cases] = /(\d+) generated/.exec(stdout) ?? [];
        console.log(`schemathesis on ${store}: ${cases} cases\n${formatStatuses(statuses)}`);
        expect(status, shortenLines(stdout).slice(-100_000) + stderr.slice(-2_000)).toBe(0);
        expect(Number(cases)).toBeGreaterThanOrEqual(MIN_CASES);
        const rejected = Object.entries(statuses).filter(
          ([name, counts]) => !(name in NEVER_ACCEPTED) && countAccepted(counts) < MIN_ACCEPTED,
        );
        expect(rejected.map(([name, counts]) => `${name} ${JSON.stringify(counts)}`)).toEqual([]);
      });
    });
  },
);
