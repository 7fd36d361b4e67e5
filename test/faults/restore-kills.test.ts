import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createRandom } from '../../src/operations/demo/telemetry/random.ts';
import { decodeBackup } from '../support/backup-file.ts';
import { cliProcess, listErrors } from '../support/cli.ts';
import { acme, fleet } from '../support/fleet.ts';
import { isLongRun, SEED } from '../support/long-run.ts';
import { createTarget, serveQuietly, type Target } from '../support/restored.ts';
import { withSecretsKey } from '../support/secrets-key.ts';
import { onEachStoreInLongRuns, PROGRAM, START_LIMIT_MS } from '../support/server.ts';

// Each test starts several processes with an engine.
vi.setConfig({ testTimeout: 180_000 });

/** Rounds with kills at random moments. */
const RANDOM_ROUNDS = 50;

/** The renames and removals of a restore, in their order; the state is committed between the two kinds. */
const STEPS = (['renameSync', 'rmSync'] as const).flatMap((call) =>
  [1, 2, 3].flatMap((count) => (['before', 'after'] as const).map((when) => ({ call, count, when }))),
);
/** Those around which state and engine do not belong together without the work of the next start. */
const SHORT_STEPS = ['after renameSync 3', 'before rmSync 1'];
const format = ({ call, count, when }: (typeof STEPS)[number]): string => `${when} ${call} ${count}`;

/** Makes the program kill itself at a call of Node's file functions that concerns the directory of a restore. */
const toPreload = ({ call, count, when }: (typeof STEPS)[number]): string => {
  const code = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
    const original = fs.${call}; let count = 0;
    const die = () => { process.kill(process.pid, 'SIGKILL'); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); };
    fs.${call} = (...args) => {
      const isStep = args.slice(0, 2).some((path) => path?.match?.('/restoring(/engine|/replaced|/note.json)?$')) && ++count === ${count};
      if (isStep && '${when}' === 'before') die();
      const result = original(...args);
      if (isStep) die();
      return result;
    };
    syncBuiltinESMExports();`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
};

const createEvents = (name: string, count: number): string =>
  Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      id: `${name} ${index}`,
      source: 'restore',
      time: new Date(Date.now() - 86_400_000).toISOString(),
      entityType: 'service',
      entityId: acme.primary,
      meter: 'compute',
      quantity: '1',
    }),
  ).join('\n');

/** What tells two backups apart, in the state and in the engine. */
function readContents(file: string): string {
  const tables = decodeBackup(file);
  return JSON.stringify([tables.get('state api_keys'), tables.get('engine usage_events')]);
}

onEachStoreInLongRuns('a restore that is killed', (store) => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-restores-'));
  const files = { first: join(directory, 'first.backup'), second: join(directory, 'second.backup') };
  const contents = { first: '', second: '' };
  type Name = keyof typeof files;
  const toOther = (name: Name): Name => (name === 'first' ? 'second' : 'first');
  let target: Target;
  /** What the target has. */
  let current: Name = 'first';
  let backups = 0;

  beforeAll(async () => {
    const source = await createTarget('libsql', { inProcess: true });
    const succeed = async (...command: string[]) => {
      const { code, stderr } = await source.run(...command);
      expect(code, stderr).toBe(0);
    };
    try {
      await source.plan(fleet);
      for (const name of ['first', 'second'] as const) {
        const events = join(directory, `${name}.jsonl`);
        writeFileSync(events, createEvents(name, 500));
        await succeed('usage', 'import', events, '--org', acme.id);
        await succeed('key', 'create', '--name', name, '--org', acme.id);
        await succeed('backup', files[name]);
        contents[name] = readContents(files[name]);
      }
    } finally {
      await source.remove();
    }
    expect(contents.first).not.toBe(contents.second);
    target = await createTarget(store);
    const restored = await target.run('restore', files.first);
    expect(restored.code, restored.stderr).toBe(0);
  }, START_LIMIT_MS);
  afterAll(async () => {
    await target?.remove();
    rmSync(directory, { recursive: true, force: true });
  });

  const spawnRestore = (name: Name, nodeArgs: string[] = []) =>
    spawn(process.execPath, [...nodeArgs, PROGRAM, 'restore', files[name], '--force', ...target.args], {
      env: { PATH: process.env.PATH, ...withSecretsKey() },
      stdio: 'ignore',
    });

  /** What the target has now, by a backup of it; state and engine must belong together. */
  async function findContents(): Promise<Name> {
    const file = join(directory, `check-${++backups}.backup`);
    const { code, stderr } = await target.run('backup', file);
    expect(code, stderr).toBe(0);
    const found = readContents(file);
    rmSync(file);
    expect([contents.first, contents.second]).toContain(found);
    expect(existsSync(join(target.directory, 'data', 'restoring'))).toBe(false);
    return found === contents.first ? 'first' : 'second';
  }

  const steps = STEPS.filter((step) => isLongRun || SHORT_STEPS.includes(format(step)));
  for (const step of steps)
    it(`${format(step)} is completed or undone by the next command`, async () => {
      const wanted = toOther(current);
      const child = spawnRestore(wanted, ['--import', toPreload(step)]);
      const [, signal] = await once(child, 'exit');
      expect(signal).toBe('SIGKILL');
      current = await findContents();
      expect(current === wanted).toBe(step.call === 'rmSync');
    });

  it('is reported by doctor, and completed or undone by a server that starts', async () => {
    const step = { call: 'renameSync', count: 2, when: 'after' } as const;
    await once(spawnRestore(toOther(current), ['--import', toPreload(step)]), 'exit');
    const doctor = await cliProcess(['doctor', '--json', '--port', '0', ...target.args]);
    const failed = JSON.parse(doctor.stdout).filter(({ isFine }: { isFine: boolean }) => !isFine);
    expect(failed).toEqual([
      {
        check: 'restore',
        isFine: false,
        text: `a restore was interrupted or is running: ${join(target.directory, 'data', 'restoring')} exists`,
        remedy: expect.stringContaining('start the server'),
      },
    ]);
    const server = await serveQuietly(target.args);
    try {
      expect((await server.call({ path: '/readyz' })).json).toEqual({ status: 'ready' });
    } finally {
      await server.stop();
    }
    expect(await findContents()).toBe(current);
  });

  it.runIf(isLongRun)('by an earlier version, without a note: its engine is never deleted', async () => {
    const data = join(target.directory, 'data');
    const replaced = join(data, 'restoring', 'replaced');
    mkdirSync(join(data, 'restoring'));
    renameSync(join(data, 'engine'), replaced);
    expect(await findContents()).toBe(current);
    // It was started meanwhile, on an empty engine.
    mkdirSync(replaced, { recursive: true });
    const again = await target.run('restore', files.first, '--force');
    expect(listErrors(again)).toEqual([
      `${replaced} is the engine from before a restore that was interrupted; move it away or delete it first`,
    ]);
    const doctor = await cliProcess(['doctor', '--port', '0', ...target.args]);
    expect(doctor.stdout).toContain(`an interrupted restore left the previous engine in ${replaced}`);
    rmSync(join(data, 'restoring'), { recursive: true });
  });

  it.runIf(isLongRun)(
    `at random moments, ${RANDOM_ROUNDS} rounds: state and engine always belong together`,
    {
      timeout: 3_600_000,
    },
    async () => {
      const random = createRandom(SEED, store);
      const startedAt = performance.now();
      await once(spawnRestore(toOther(current)), 'exit');
      current = toOther(current);
      const completeMs = performance.now() - startedAt;
      expect(await findContents()).toBe(current);
      const counts = { undone: 0, completed: 0, notKilled: 0 };
      for (let round = 1; round <= RANDOM_ROUNDS; round++) {
        const wanted = toOther(current);
        const child = spawnRestore(wanted);
        const exited = once(child, 'exit');
        const isKilled = await Promise.race([
          exited.then(() => false),
          delay(random.next() * completeMs).then(() => child.kill('SIGKILL')),
        ]);
        const [code] = await exited;
        const found = await findContents();
        if (code === 0) expect(found).toBe(wanted);
        counts[code === 0 || !isKilled ? 'notKilled' : found === wanted ? 'completed' : 'undone']++;
        current = found;
      }
      console.log(`restore kills on ${store}, seed ${SEED}: ${JSON.stringify(counts)}`);
    },
  );
});
