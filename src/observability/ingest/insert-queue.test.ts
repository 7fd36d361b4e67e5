import { describe, expect, it } from 'vitest';
import { useEngine } from '../../../test/support/engine.ts';
import { countRows } from '../../../test/support/engine-rows.ts';
import { encodeRequest } from '../../../test/support/otlp-encoding.ts';
import { logRecord, toRequest } from '../../../test/support/otlp-requests.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import type { Engine } from '../../platform/engine/engine.ts';
import { createInsertQueue } from './insert-queue.ts';
import { transcode } from './transcode.ts';
import type { Rows } from './wire/batch.ts';

/** The rows of one log record. */
function createRows(organizationId: string): Rows {
  const now = Date.now() * 1e6;
  const body = encodeRequest('logs', toRequest('logs', [logRecord(Date.now())]));
  const result = transcode(
    { signal: 'logs', format: 'protobuf', compression: undefined, body },
    { organizationId, now, oldest: 0, newest: now * 2 },
  );
  const [rows] = 'rows' in result ? result.rows : [];
  return rows ?? expect.fail('there is no row');
}

describe('inserts', () => {
  const engine = useEngine();

  it('requests that arrive together share one, unless it fails because of one of them', {
    timeout: 120_000,
  }, async () => {
    const sizes: number[] = [];
    const observed: Pick<Engine, 'insertBinary'> = {
      insertBinary(table, columns, rows) {
        sizes.push(rows.length);
        return engine.insertBinary(table, columns, rows);
      },
    };
    const queue = createInsertQueue({ engine: observed, clock: systemClock });
    await Promise.all(Array.from({ length: 10 }, () => queue.add(createRows('together'))));
    expect(sizes).toEqual([10]);
    expect(await countRows(engine, 'otel_logs', 'together')).toBe(10);

    const bad = { ...createRows('bad'), bytes: Buffer.alloc(20, 0xff) };
    const results = await Promise.allSettled([createRows('good'), bad, createRows('good')].map(queue.add));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(sizes).toEqual([10, 3, 1, 1, 1]);
    expect(await countRows(engine, 'otel_logs', 'good')).toBe(2);
  });

  it('few rows wait for others between inserts, until there are enough', async () => {
    let now = 1e9;
    const sizes: number[] = [];
    const counting: Pick<Engine, 'insertBinary'> = {
      async insertBinary(_table, _columns, rows) {
        sizes.push(rows.length);
      },
    };
    const queue = createInsertQueue({ engine: counting, clock: { monotonicMs: () => now } });
    await queue.add(createRows('first'));
    // The gap between two inserts now takes longer than the test.
    now -= 600_000;
    const few = queue.add(createRows('few'));
    // Without the gap they would be inserted before these, which were added later and wait for no others.
    const rows = createRows('other');
    await queue.add({ ...rows, block: rows.block + 1 });
    expect(sizes).toEqual([1, 1]);
    await Promise.all([few, queue.add({ ...createRows('many'), rows: 3500 })]);
    expect(sizes).toEqual([1, 1, 2]);
  });

  it('rows are not accepted while too many wait for a slow engine', async () => {
    let start = (_finish: () => void) => {};
    const started = new Promise<() => void>((resolve) => {
      start = resolve;
    });
    const slow: Pick<Engine, 'insertBinary'> = { insertBinary: () => new Promise((resolve) => start(resolve)) };
    const queue = createInsertQueue({ engine: slow, clock: systemClock });
    queue.requireSpace();
    const added = queue.add({ ...createRows('slow'), bytes: Buffer.allocUnsafeSlow(256 * 2 ** 20) });
    const finish = await started;
    expect(() => queue.requireSpace()).toThrow('Too much telemetry is waiting to be stored');
    finish();
    await added;
    queue.requireSpace();
  });

  it('after an error that may have stored a part, nothing is inserted again', async () => {
    let inserts = 0;
    const failing: Pick<Engine, 'insertBinary'> = {
      async insertBinary() {
        inserts++;
        // Of a statement that fails while it runs.
        await engine.query({ sql: 'SELECT throwIf(number = 5) FROM numbers(10)', parameters: {} });
      },
    };
    const queue = createInsertQueue({ engine: failing, clock: systemClock });
    const results = await Promise.allSettled(Array.from({ length: 3 }, () => queue.add(createRows('failed'))));
    expect([inserts, ...results.map(({ status }) => status)]).toEqual([1, 'rejected', 'rejected', 'rejected']);
  });
});
