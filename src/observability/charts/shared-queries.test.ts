import { describe, expect, it } from 'vitest';
import { useEngine } from '../../../test/support/engine.ts';
import { until } from '../../../test/support/until.ts';
import { createSharedQueries } from './shared-queries.ts';

/** Slow enough for other clients to join it while it runs. The text makes the statement unique. */
const slow = (text: string) => ({
  sql: 'SELECT {text:String}, sum(cityHash64(a.n + b.n)) FROM (SELECT arrayJoin(range(20000)) AS n) AS a, (SELECT arrayJoin(range(10000)) AS n) AS b',
  parameters: { text },
});
const quick = (text: string) => ({ sql: 'SELECT {text:String}, rand64()', parameters: { text } });

describe('shared queries', () => {
  const ran: string[] = [];
  const engine = useEngine({
    observer: {
      query: (_, outcome) => void ran.push(outcome),
      running() {},
      restarted() {},
    },
  });
  let now = 1_000_000;
  let started = 0;
  const counted = new Proxy(engine, {
    get(_, name) {
      if (name === 'query') started++;
      return Reflect.get(engine, name);
    },
  });
  const queries = () =>
    createSharedQueries({ engine: counted, clock: { now: () => now, monotonicMs: () => now }, limits: {} });
  const organizationId = 'acme';
  const client = (credentialId = 'token') => ({ organizationId, credentialId });

  it('run an identical statement once at a time', async () => {
    const shared = queries();
    const before = ran.length;
    const [first, second] = await Promise.all([
      shared.queryShared(quick('same'), client()),
      shared.queryShared(quick('same'), client('other')),
    ]);
    expect(second).toEqual(first);
    expect(ran.length - before).toBe(1);
  });

  it('cache a result for five seconds', async () => {
    const shared = queries();
    const first = await shared.queryShared(quick('cached'), client());
    now += 4000;
    expect(await shared.queryShared(quick('cached'), client())).toEqual(first);
    now += 2000;
    expect(await shared.queryShared(quick('cached'), client())).not.toEqual(first);
  });

  it('run different statements separately', async () => {
    const shared = queries();
    expect(await shared.queryShared(quick('a'), client())).not.toEqual(await shared.queryShared(quick('b'), client()));
  });

  it('do not cache a failure', async () => {
    const shared = queries();
    const broken = { sql: 'SELECT nothing FROM nowhere', parameters: {} };
    await expect(shared.queryShared(broken, client())).rejects.toMatchObject({ code: 'bad_request' });
    const before = ran.length;
    await expect(shared.queryShared(broken, client())).rejects.toMatchObject({ code: 'bad_request' });
    expect(ran.length - before).toBe(1);
  });

  it('are canceled when their last client disconnects', async () => {
    const shared = queries();
    const startedBefore = started;
    const [one, two] = [new AbortController(), new AbortController()];
    const first = shared.queryShared(slow('leave'), { organizationId, credentialId: 'one', signal: one.signal });
    const second = shared.queryShared(slow('leave'), { organizationId, credentialId: 'two', signal: two.signal });
    const outcomes = Promise.allSettled([first, second]);
    const before = ran.length;
    await until(
      async () => started,
      (count) => count > startedBefore,
      'the query has not started',
    );
    one.abort();
    await expect(first).rejects.toMatchObject({ code: 'request_timeout' });
    expect(ran.length).toBe(before);
    two.abort();
    await outcomes;
    await until(
      async () => ran.length,
      (length) => length > before,
      'the query is still running',
    );
    expect(ran.at(-1)).toBe('canceled');
  });

  it('are limited per token: more wait, then are rejected; other tokens are not affected', async () => {
    const shared = queries();
    const controller = new AbortController();
    const queriesOfOneToken = Array.from({ length: 105 }, (_, index) =>
      shared.queryShared(slow(`greedy ${index}`), {
        organizationId,
        credentialId: 'greedy',
        signal: controller.signal,
      }),
    );
    const outcomes = Promise.allSettled(queriesOfOneToken);
    await expect(queriesOfOneToken.at(-1)).rejects.toMatchObject({ code: 'too_many_requests', retryAfterSeconds: 1 });
    controller.abort();
    const settled = await outcomes;
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(105);
    expect(await shared.queryShared(quick('modest'), client('modest'))).toHaveLength(1);
    expect(await shared.queryShared(quick('greedy again'), client('greedy'))).toHaveLength(1);
  });

  it('are limited per organization, whatever number of tokens it uses; other organizations are not affected', async () => {
    const shared = queries();
    const controller = new AbortController();
    const { signal } = controller;
    const endless = (text: string) => ({
      sql: 'SELECT {text:String}, count() FROM system.numbers WHERE NOT ignore(number)',
      parameters: { text },
    });
    const greedy = Array.from({ length: 12 }, (_, index) =>
      shared.queryShared(endless(`slow ${index}`), {
        organizationId: 'greedy',
        credentialId: `token ${index}`,
        signal,
      }),
    );
    const outcomes = Promise.allSettled(greedy);
    const modest = { organizationId: 'modest', credentialId: 'modest' };
    expect(await shared.queryShared(quick('not delayed'), modest)).toHaveLength(1);
    controller.abort();
    await outcomes;
  });
});
