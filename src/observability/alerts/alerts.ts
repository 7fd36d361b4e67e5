import { AppError, rejectViolations } from '../../kernel/errors.ts';
import { rejectStale } from '../../kernel/etag.ts';
import { newHexId } from '../../kernel/ids.ts';
import { type Clock, DAY_MS } from '../../kernel/time/clock.ts';
import { type Actor, difference } from '../../management/audit/activity.ts';
import type { Audit } from '../../management/audit/audit.ts';
import type { Notifications } from '../../management/notifications/notifications.ts';
import type { Organizations } from '../../management/organizations/organizations.ts';
import type { InTransaction, State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import { isResourceId } from '../sources/resource-id.ts';
import { type Alert, type AlertContent, changeAlert, createAlert, createAlertEtag } from './alert.ts';
import { listAlertViolations, normalizeAlert } from './alert-input.ts';
import type { AlertBody } from './alert-schema.ts';
import { countAlerts, findAlert, listAlerts, putAlert, readGroups } from './alert-store.ts';
import { listEvaluations } from './evaluation/evaluation-store.ts';
import type { Evaluation } from './evaluation.ts';
import type { GroupState } from './judgment.ts';
import type { AlertNotices } from './notices.ts';
import type { AlertRemoval } from './removal.ts';

/** Per organization. */
const MAX_ALERTS = 1000;
const MAX_SILENCE_MS = 365 * DAY_MS;

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  notifications: Pick<Notifications, 'enqueue' | 'requestDelivery' | 'listExistingChannelIds'>;
  notices: AlertNotices;
  removal: AlertRemoval;
  /** Throws what the public interface answers if the source of an alert does not exist or does not fit. */
  checkSource(organizationId: string, content: AlertContent): Promise<void>;
  /** Evaluates soon. */
  onChange(): void;
}

export type Alerts = ReturnType<typeof createAlerts>;

export function createAlerts({
  state,
  clock,
  audit,
  organizations,
  notifications,
  notices,
  removal,
  checkSource,
  onChange,
}: Options) {
  async function get(db: Db, organizationId: string, id: string): Promise<Alert> {
    const found = isResourceId(id) ? await findAlert(db, organizationId, id) : undefined;
    if (!found) throw new AppError('not_found', 'Alert not found');
    return found;
  }

  /** Throws if the stored alert is not the one that the client read. */
  async function getChangeable(
    tx: Db,
    organizationId: string,
    id: string,
    ifMatch: string | undefined,
  ): Promise<Alert> {
    await organizations.lock(tx, organizationId);
    const stored = await get(tx, organizationId, id);
    rejectStale('alert', ifMatch, [createAlertEtag(stored)]);
    return stored;
  }

  /** Before the transaction: the source is read from the store and its columns from the engine. */
  async function check(organizationId: string, body: AlertBody, content: AlertContent): Promise<void> {
    rejectViolations(listAlertViolations(body, content, clock.now()));
    await checkSource(organizationId, content);
  }

  async function checkChannels(tx: Db, organizationId: string, { channels }: AlertContent): Promise<void> {
    if (channels.length === 0)
      throw new AppError('bad_request', 'At least one notification channel is required', { field: 'channel' });
    const ids = channels.map(({ webhookId }) => webhookId);
    const existing = await notifications.listExistingChannelIds(tx, organizationId, ids);
    if (ids.some((id) => !existing.has(id)))
      throw new AppError('bad_request', 'Webhook not found', { field: 'channel' });
  }

  /** Changes an alert, and records the change. */
  async function change(
    actor: Actor,
    organizationId: string,
    id: string,
    type: 'alert_silence' | 'alert_acknowledge',
    update: (alert: Alert, tx: Db) => Promise<{ alert: Alert; details: object }>,
  ): Promise<Alert> {
    const changed = await state.write(async (tx) => {
      await organizations.lock(tx, organizationId);
      const { alert, details } = await update(await get(tx, organizationId, id), tx);
      await putAlert(tx, alert);
      await audit.record(tx, actor, { organizationId, type, resource: { type: 'alert', id }, after: details });
      return alert;
    });
    onChange();
    return changed;
  }

  return {
    async list(organizationId: string, page: { limit: number; offset: number }) {
      const [list, total] = await Promise.all([
        listAlerts(state.db, organizationId, page),
        countAlerts(state.db, organizationId),
      ]);
      return { list, total };
    },

    get: (organizationId: string, id: string): Promise<Alert> => get(state.db, organizationId, id),

    /** A draft that has not been stored. */
    async parseDraft(organizationId: string, body: AlertBody): Promise<AlertContent> {
      const content = normalizeAlert(body);
      await check(organizationId, body, content);
      return content;
    },

    async create(
      actor: Actor,
      organizationId: string,
      body: AlertBody,
      inTransaction?: InTransaction<Alert>,
    ): Promise<Alert> {
      const content = normalizeAlert(body);
      await check(organizationId, body, content);
      const created = await state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        await checkChannels(tx, organizationId, content);
        if ((await countAlerts(tx, organizationId)) >= MAX_ALERTS)
          throw new AppError(
            'conflict',
            `The organization has reached its limit of ${MAX_ALERTS} alerts; delete one first`,
          );
        const alert = createAlert({ id: newHexId(), organizationId }, content, clock.now());
        await putAlert(tx, alert);
        await audit.record(tx, actor, {
          organizationId,
          type: 'alert_create',
          resource: { type: 'alert', id: alert.id },
          after: content,
        });
        await inTransaction?.(tx, alert);
        return alert;
      });
      onChange();
      return created;
    },

    /**
     * What the public interface clears or keeps if it is left out; see `normalizeAlert`. Without `ifMatch` (the header), the
     * last write wins.
     */
    async replace(actor: Actor, organizationId: string, id: string, body: AlertBody, ifMatch?: string): Promise<Alert> {
      const known = await get(state.db, organizationId, id);
      await check(organizationId, body, normalizeAlert(body, known.content));
      const changed = await state.write(async (tx) => {
        const before = await getChangeable(tx, organizationId, id, ifMatch);
        const content = normalizeAlert(body, before.content);
        await checkChannels(tx, organizationId, content);
        const changes = difference(before.content, content);
        if (Object.keys({ ...changes.before, ...changes.after }).length === 0) return before;
        const alert = changeAlert(before, content, clock.now());
        await putAlert(tx, alert);
        await audit.record(tx, actor, {
          organizationId,
          type: 'alert_update',
          resource: { type: 'alert', id },
          ...changes,
        });
        return alert;
      });
      onChange();
      return changed;
    },

    async remove(actor: Actor, organizationId: string, id: string, ifMatch?: string): Promise<void> {
      const { name } = await notices.findSubject(await get(state.db, organizationId, id));
      await state.write(async (tx) => {
        await removal.remove(tx, actor, await getChangeable(tx, organizationId, id, ifMatch), name);
      });
      notifications.requestDelivery();
    },

    /** `until` undefined ends the silence. */
    silence(
      actor: Actor,
      organizationId: string,
      id: string,
      { until, reason }: { until: number | undefined; reason?: string | undefined },
    ): Promise<Alert> {
      const nowMs = clock.now();
      if (until !== undefined && (until <= nowMs || until > nowMs + MAX_SILENCE_MS))
        rejectViolations([
          {
            path: 'until',
            rule: 'The value must be a time in the next 365 days',
            value: new Date(until).toISOString(),
          },
        ]);
      return change(actor, organizationId, id, 'alert_silence', async (alert) => {
        const silence = until === undefined ? undefined : { by: actor.details, at: nowMs, until, reason };
        const details = { until: until === undefined ? null : new Date(until).toISOString(), reason: reason ?? null };
        return { alert: { ...alert, state: { ...alert.state, silence }, nextEvaluationAt: nowMs }, details };
      });
    },

    /** Ends the repeated notifications of what fires now. */
    async acknowledge(actor: Actor, organizationId: string, id: string): Promise<Alert> {
      const nowMs = clock.now();
      const known = await get(state.db, organizationId, id);
      const groups = await readGroups(state.db, organizationId, id);
      const inputs = await notices.buildAcknowledgement(known, groups, actor.details, nowMs);
      const alert = await change(actor, organizationId, id, 'alert_acknowledge', async (before, tx) => {
        if (before.state.status !== 'firing' && before.state.status !== 'no_data')
          throw new AppError('conflict', 'Only an alert that is firing can be acknowledged');
        await notifications.enqueue(tx, inputs);
        const acknowledged = { by: actor.details, at: nowMs };
        return { alert: { ...before, state: { ...before.state, acknowledged } }, details: { by: actor.details } };
      });
      notifications.requestDelivery();
      return alert;
    },

    /** Groups that are not ok first. */
    async listGroups(
      organizationId: string,
      id: string,
    ): Promise<{ groupBy: readonly string[]; groups: GroupState[] }> {
      const alert = await get(state.db, organizationId, id);
      const groups = [...(await readGroups(state.db, organizationId, id)).values()];
      const rank = ({ status }: GroupState) => ['firing', 'no_data', 'pending', 'ok'].indexOf(status);
      return { groupBy: alert.state.groupBy, groups: groups.sort((a, b) => rank(a) - rank(b) || a.since - b.since) };
    },

    /** Newest first. */
    async listEvaluations(
      organizationId: string,
      id: string,
      page: { limit: number; before?: number | undefined; onlyChanges?: boolean | undefined },
    ): Promise<Evaluation[]> {
      await get(state.db, organizationId, id);
      return listEvaluations(state.db, organizationId, id, page);
    },
  };
}
