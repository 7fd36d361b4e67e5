import { describe, expect, it } from 'vitest';
import { useEngine } from '../../test/support/engine.ts';
import { until } from '../../test/support/until.ts';
import { createSharedQueries } from './shared-queries.ts';

/** Long enough that everybody who asks meanwhile meets it in flight; the text makes it a question of its own. */
const slow = (text: string) => ({
  sql: 'SELECT {text:String}, sum(cityHash64(a.n + b.n)) FROM (SELECT arrayJoin(range(20000)) AS n) AS a, (SELECT arrayJoin(range(10000)) AS n) AS b',
  parameters: { text },
});
const quick = (text: string) => ({ sql: 'SELECT {text:String}, rand64()', parameters: { text } });

describe('queries that are shared', () => {
  const ran: string[] = [];
  const engine = useEngine({
    observer: { query: (_, outcome) => void ran.push(outcome), running() {}, restarted() {} },
  });
  let now = 1_000_000;
  const queries = () => createSharedQueries({ engine, clock: { now: () => now }, limits: {} });
  const asker = (credentialId = 'token') => ({ credentialId });

  it('the same question in flight runs once', async () => {
    const shared = queries();
    const before = ran.length;
    const [first, second] = await Promise.all([
      shared.query(quick('same'), asker()),
      shared.query(quick('same'), asker('other')),
    ]);
    expect(second).toEqual(first);
    expect(ran.length - before).toBe(1);
  });

  it('an answer is kept for a few seconds, and not longer', async () => {
    const shared = queries();
    const first = await shared.query(quick('kept'), asker());
    now += 4000;
    expect(await shared.query(quick('kept'), asker())).toEqual(first);
    now += 2000;
    expect(await shared.query(quick('kept'), asker())).not.toEqual(first);
  });

  it('another question is another answer', async () => {
    const shared = queries();
    expect(await shared.query(quick('a'), asker())).not.toEqual(await shared.query(quick('b'), asker()));
  });

  it('a failure is not kept', async () => {
    const shared = queries();
    const broken = { sql: 'SELECT nothing FROM nowhere', parameters: {} };
    await expect(shared.query(broken, asker())).rejects.toMatchObject({ code: 'bad_request' });
    const before = ran.length;
    await expect(shared.query(broken, asker())).rejects.toMatchObject({ code: 'bad_request' });
    expect(ran.length - before).toBe(1);
  });

  it('whoever goes away leaves the query to the others; the last one ends it', async () => {
    const shared = queries();
    const [one, two] = [new AbortController(), new AbortController()];
    const first = shared.query(slow('leave'), { credentialId: 'one', signal: one.signal });
    const second = shared.query(slow('leave'), { credentialId: 'two', signal: two.signal });
    const outcomes = Promise.allSettled([first, second]);
    const before = ran.length;
    await new Promise((resolve) => setTimeout(resolve, 50));
    one.abort();
    await expect(first).rejects.toMatchObject({ code: 'request_timeout' });
    expect(ran.length).toBe(before);
    two.abort();
    await outcomes;
    await until(
      async () => ran.length,
      (length) => length > before,
      'the query goes on',
    );
    expect(ran.at(-1)).toBe('canceled');
  });

  it('a token that asks for too much waits, and is refused in the end; others do not wait for it', async () => {
    const shared = queries();
    const controller = new AbortController();
    const greedy = Array.from({ length: 107 }, (_, index) =>
      shared.query(slow(`greedy ${index}`), { credentialId: 'greedy', signal: controller.signal }),
    );
    const outcomes = Promise.allSettled(greedy);
    await expect(greedy.at(-1)).rejects.toMatchObject({ code: 'too_many_requests', retryAfterSeconds: 1 });
    controller.abort();
    const settled = await outcomes;
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(107);
    expect(await shared.query(quick('modest'), asker('modest'))).toHaveLength(1);
    expect(await shared.query(quick('greedy again'), asker('greedy'))).toHaveLength(1);
  });
});
