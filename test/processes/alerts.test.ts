import { expect, it } from 'vitest';
import { createRandom } from '../../src/operations/demo/telemetry/random.ts';
import { createIndependentEvaluator, type Row } from '../alerts/independent-evaluator.ts';
import type { Json } from '../support/client.ts';
import { useClockedServer } from '../support/clocked-server.ts';
import { acme } from '../support/fleet.ts';
import { isLongRun, SEED } from '../support/long-run.ts';
import { createIngestToken, postOtlp } from '../support/otlp-json.ts';
import { useReceiver } from '../support/receiver.ts';
import { onEachStore } from '../support/server.ts';

const MINUTE = 60_000;
const SERVICES = Array.from({ length: 50 }, (_, index) => `service-${index}`);
const PASSES = isLongRun ? 200 : 12;
const MAX_OWN = 20;
const KINDS: Record<string, string> = { Firing: 'firing', 'No data': 'no_data', Resolved: 'resolved' };

/** Minutes and seconds as numbers; what is left out has its default. */
interface Rule {
  /** Of logs: their number, or the highest severity. */
  aggregation: 'count' | 'max';
  isGrouped: boolean;
  thresholdType: string;
  threshold: number;
  thresholdMax?: number;
  pendingMinutes?: number;
  keepFiringMinutes?: number;
  numConsecutiveWindows?: number;
  noData?: string;
  delay?: number;
  interval?: number;
  offset?: number;
}

const RULES: Rule[] = [
  { aggregation: 'count', isGrouped: true, thresholdType: 'above', threshold: 3, pendingMinutes: 1 },
  { aggregation: 'count', isGrouped: true, thresholdType: 'below', threshold: 1, numConsecutiveWindows: 3 },
  { aggregation: 'max', isGrouped: true, thresholdType: 'not_between', threshold: 2, thresholdMax: 7, delay: 90 },
  { aggregation: 'max', isGrouped: true, thresholdType: 'above', threshold: 8, noData: 'keep', keepFiringMinutes: 2 },
  { aggregation: 'max', isGrouped: true, thresholdType: 'equal', threshold: 5, noData: 'alert', pendingMinutes: 2 },
  { aggregation: 'count', isGrouped: false, thresholdType: 'above_exclusive', threshold: 60, interval: 5, offset: 2 },
  { aggregation: 'max', isGrouped: false, thresholdType: 'below_or_equal', threshold: 8, delay: 0 },
];

onEachStore('alerts compared with an independent evaluator', (store) => {
  const server = useClockedServer(store, { settings: { webhookAllowPrivate: 'yes', rateLimit: 'off' } });
  const receiver = useReceiver();
  const random = createRandom(isLongRun ? SEED : 25, store);
  const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const response = await server.call({ method, path, token: acme.writer, ...(body !== undefined && { body }) });
    expect(response.status, response.text).toBe(200);
    return response.json.data;
  };
  const rows: Row[] = [];

  async function createAlert(rule: Rule, name: string, sources: { webhookId: string; savedSearchId: string }) {
    const { interval = 1, offset = 0, delay = 15, thresholdMax = 0, numConsecutiveWindows = 1 } = rule;
    const { pendingMinutes = 0, keepFiringMinutes = 0, noData = 'no_data' } = rule;
    const metric = { type: 'time', sourceId: 'logs', aggFn: 'max', field: 'SeverityNumber', where: '', groupBy: [] };
    const source =
      rule.aggregation === 'count' ? { savedSearchId: sources.savedSearchId } : { source: 'metric', metric };
    const { id } = await call('POST', '/api/v2/alerts', {
      ...source,
      name,
      channel: { type: 'webhook', webhookId: sources.webhookId },
      ...(rule.isGrouped && { groupBy: 'ServiceName' }),
      interval: `${interval}m`,
      threshold: rule.threshold,
      thresholdType: rule.thresholdType,
      thresholdMax,
      numConsecutiveWindows,
      pendingMinutes,
      keepFiringMinutes,
      noDataBehavior: noData,
      repeatMinutes: 0,
      evaluationDelaySeconds: delay,
      scheduleOffsetMinutes: offset,
    });
    const independent = createIndependentEvaluator(
      {
        intervalMs: interval * MINUTE,
        offsetMs: offset * MINUTE,
        startAt: null,
        delayMs: delay * 1000,
        thresholdType: rule.thresholdType,
        threshold: rule.threshold,
        thresholdMax,
        pendingMs: pendingMinutes * MINUTE,
        consecutive: numConsecutiveWindows,
        keepFiringMs: keepFiringMinutes * MINUTE,
        repeatMs: 0,
        noData,
        isGrouped: rule.isGrouped,
        aggregation: rule.aggregation,
      },
      rows,
    );
    return { id: id as string, name, independent, incidents: createIncidents() };
  }

  /** Rows of the minutes before `now`: most are new, some come late. Each service has times with many rows and without any. */
  async function sendRows(token: string, now: number): Promise<void> {
    const resourceLogs = SERVICES.filter(() => random.chance(0.4)).map((service) => {
      const isBusy = random.chance(0.3);
      const logRecords = Array.from({ length: random.whole(1, isBusy ? 6 : 2) }, () => {
        const time = now - random.whole(1, random.chance(0.9) ? 60_000 : 240_000);
        const value = random.whole(1, 9);
        // It is there as soon as it was sent, whatever the clock says later.
        rows.push({ time, arrivedAt: 0, group: service, value });
        return { timeUnixNano: `${time}000000`, severityNumber: value, body: { stringValue: 'x' } };
      });
      const resource = { attributes: [{ key: 'service.name', value: { stringValue: service } }] };
      return { resource, scopeLogs: [{ logRecords }] };
    });
    const response = await postOtlp(server, token, 'logs', { resourceLogs });
    expect(response.status).toBe(200);
    await response.text();
  }

  /** As `{alert} {group} {kind}`. */
  function takeMessages(): string[] {
    const titles = receiver.received.splice(0).map(({ body }) => String(JSON.parse(body).title));
    return titles.map((title) => {
      const [, kind = title, name, group = '', detail = ''] =
        /^(Firing|No data|Resolved): (rule \d)(?: \(ServiceName:([^)]*)\))?: (.*)$/.exec(title) ?? [];
      return `${name} ${isShared(detail) ? detail : group} ${KINDS[kind]}`;
    });
  }

  /** Returns the changes of groups that have to be sent. */
  async function expectSameStates(
    { id, independent }: Pick<Awaited<ReturnType<typeof createAlert>>, 'id' | 'independent'>,
    about: string,
  ): Promise<string[]> {
    const { windows, messages } = independent.pass(server.now, ['all']);
    const evaluations: Json[] = await call('GET', `/api/v2/alerts/${id}/evaluations?limit=1000`);
    const states = evaluations
      .filter(({ evaluatedAt }) => Date.parse(evaluatedAt) === server.now)
      .map(({ windowEnd, status }) => [Date.parse(windowEnd), status]);
    expect(states.reverse(), about).toEqual(windows.map(({ end, state }) => [end, state]));
    const { groups } = await call('GET', `/api/v2/alerts/${id}/groups`);
    const found = groups
      .filter(({ status }: Json) => status !== 'ok')
      .map(({ labels, status }: Json) => [labels[0] ?? '', status]);
    const last = windows.at(-1);
    if (last) expect(Object.fromEntries(found.sort()), about).toEqual(last.groups);
    return messages.map((message) => message.slice('all: '.length));
  }

  it('have its states after every window, and send its messages', { timeout: 600_000 + PASSES * 20_000 }, async () => {
    const body = JSON.stringify({ title: '{{title}}' });
    const hook = { name: 'hook', service: 'generic', url: receiver.url, body };
    const { id: webhookId } = await call('POST', '/api/v2/webhooks', hook);
    const { id: savedSearchId } = await call('POST', '/api/v2/saved-searches', { name: 'All', sourceId: 'logs' });
    const { token } = await createIngestToken(server, acme);
    const alerts = [];
    for (const [index, rule] of RULES.entries())
      alerts.push(await createAlert(rule, `rule ${index}`, { webhookId, savedSearchId }));
    // Until here, alerts may have been evaluated at any moment.
    await server.evaluateAlerts();
    for (const { independent } of alerts) independent.pass(server.now, ['all']);
    takeMessages();
    for (let pass = 0; pass < PASSES; pass++) {
      // Pauses, and a clock that is set back.
      const ms = (pass % 9 === 4 ? random.pick([3, 70]) : pass % 9 === 8 ? -random.pick([0.5, 4]) : 1) * MINUTE;
      const next = server.now + ms + random.whole(-30_000, 20_000);
      // Before the clock changes: the server evaluates as soon as a window is due.
      await sendRows(token, next);
      if (next < server.now) server.step(next - server.now);
      else server.now = next;
      await server.evaluateAlerts();
      const received = takeMessages();
      for (const { name, ...alert } of alerts) {
        const about = `pass ${pass}, ${name}`;
        const changes = await expectSameStates(alert, about);
        const found = received.filter((message) => message.startsWith(`${name} `));
        const messages = found.map((message) => message.slice(name.length + 1));
        expect(messages.sort(), about).toEqual(alert.incidents.list(changes, messages).sort());
      }
    }
  });
});

const isShared = (message: string) => /more groups|other groups/.test(message);

/**
 * Which messages the changes of groups lead to. At most 20 groups have incidents of their own; which ones is not
 * specified, so it is taken from what was received.
 */
function createIncidents() {
  const own = new Set<string>();
  const shared = new Set<string>();

  function open(names: readonly string[], isOwn: (name: string) => boolean): void {
    const added = names.filter((name) => !own.has(name) && !shared.has(name));
    const free = MAX_OWN - own.size;
    for (const name of added) (isOwn(name) ? own : shared).add(name);
    expect(added.filter((name) => own.has(name))).toHaveLength(Math.min(free, added.length));
  }

  return {
    list(changes: readonly string[], received: readonly string[]): string[] {
      const parsed = changes.map((change) => ({
        change,
        name: change.split(' ')[0] ?? '',
        kind: change.split(' ')[1],
      }));
      open(
        parsed.map(({ name }) => name),
        (name) => received.some((message) => message.split(' ')[0] === name),
      );
      const messages = parsed.filter(({ name }) => own.has(name)).map(({ change }) => change);
      const inShared = parsed.filter(({ name }) => shared.has(name));
      for (const { name, kind } of parsed) {
        if (kind !== 'resolved') continue;
        own.delete(name);
        shared.delete(name);
      }
      for (const kind of ['firing', 'no_data']) {
        const count = inShared.filter((one) => one.kind === kind).length;
        if (count > 0) messages.push(`${count} more groups ${kind}`);
      }
      const isResolved = inShared.some(({ kind }) => kind === 'resolved') && shared.size === 0;
      return isResolved ? [...messages, 'all other groups resolved'] : messages;
    },
  };
}
