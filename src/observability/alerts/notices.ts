import { deriveUuid } from '../../kernel/ids.ts';
import type { NotificationInput } from '../../management/notifications/notifications.ts';
import type { MessageKind } from '../../platform/notifications/message.ts';
import type { Alert } from './alert.ts';
import { buildMessage, type Subject } from './alert-message.ts';
import type { SentAnnouncement } from './evaluation.ts';
import type { Groups } from './judgment.ts';
import type { Windows } from './windows.ts';

interface Options {
  /** What an alert watches. */
  findSubject(alert: Alert): Promise<Subject>;
  /** The newest rows of a group, one line each. Empty if the source has no rows. */
  readSamples(
    alert: Alert,
    group: { groupBy: readonly string[]; labels: readonly string[] },
    window: { startMs: number; endMs: number },
  ): Promise<string[]>;
  /** Without a slash at the end; undefined if the address of the console is not known. */
  consoleUrl: string | undefined;
}

/** Groups whose messages have rows. */
const MAX_SAMPLED_GROUPS = 3;

/** Of all groups that have none of their own. */
const SHARED_INCIDENT = 'more groups';

/** The groups of each shared message. */
function countShared(sent: readonly SentAnnouncement[]): Map<SentAnnouncement['kind'], number> {
  const counts = new Map<SentAnnouncement['kind'], number>();
  for (const { kind, isShared } of sent) if (isShared) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** How many messages a channel gets. */
export const countMessages = (sent: readonly SentAnnouncement[]): number =>
  sent.filter(({ isShared }) => !isShared).length + countShared(sent).size;

interface Found {
  sent: readonly SentAnnouncement[];
  failureNotice?: 'failed' | 'resolved' | undefined;
  state: Alert['state'];
  /** Instead of values. */
  detail?: string | undefined;
}

export type AlertNotices = ReturnType<typeof createAlertNotices>;

/** Builds the notifications of an evaluation, for every channel of the alert. */
export function createAlertNotices({ findSubject, readSamples, consoleUrl }: Options) {
  async function build(
    alert: Alert,
    windows: Pick<Windows, 'startMs' | 'count' | 'stepMs'>,
    { sent, failureNotice, state, detail }: Found,
    nowMs: number,
    known?: Subject,
  ): Promise<NotificationInput[]> {
    if (sent.length === 0 && failureNotice === undefined) return [];
    const subject = known ?? (await findSubject(alert));
    const endMs = windows.startMs + windows.count * windows.stepMs;
    const window = { startMs: endMs - windows.stepMs, endMs };
    const { groupBy } = state;
    const shared = { alert, subject, groupBy, window, consoleUrl };
    const notices: NotificationInput[] = [];
    const add = (kind: MessageKind, incident: string, details: Partial<Parameters<typeof buildMessage>[0]>) => {
      const eventId = deriveUuid('alert', alert.organizationId, alert.id, incident);
      const message = buildMessage({ ...shared, kind, eventId, labels: [], value: null, ...details });
      notices.push(...toInputs(alert, message, [incident, kind, String(nowMs)]));
    };
    let sampled = 0;
    for (const { kind, key, group } of sent.filter(({ isShared }) => !isShared)) {
      const { labels, value } = group;
      const hasSamples = kind === 'firing' && sampled++ < MAX_SAMPLED_GROUPS;
      const samples = hasSamples ? await readSamples(alert, { groupBy, labels }, window) : [];
      add(kind, key, { labels, value, samples, detail });
    }
    for (const [kind, count] of countShared(sent))
      add(kind, SHARED_INCIDENT, { detail: kind === 'resolved' ? 'all other groups' : `${count} more groups` });
    const reason = detail ?? state.failure?.message ?? 'The alert can be evaluated again';
    if (failureNotice) add(failureNotice, 'evaluation', { detail: reason });
    return notices;
  }

  return {
    findSubject,
    build,

    /** What was announced is resolved, also while the alert is silenced: nothing will say so later. */
    buildDeletion(
      alert: Alert,
      groups: Groups,
      nowMs: number,
      subjectName = `Alert ${alert.id}`,
    ): Promise<NotificationInput[]> {
      const { state } = alert;
      const sent = [...groups].flatMap(([key, group]) =>
        group.announced
          ? [{ kind: 'resolved' as const, key, group: { ...group, value: null }, isShared: group.announced.isShared }]
          : [],
      );
      const subject = { name: subjectName, path: '/console/alerts' };
      const found = { sent, state, detail: 'The alert was deleted' };
      const failureNotice = state.isFailureSent ? ('resolved' as const) : undefined;
      return build(alert, { startMs: nowMs, count: 0, stepMs: 0 }, { ...found, failureNotice }, nowMs, subject);
    },

    /** A person has seen it. */
    async buildAcknowledgement(alert: Alert, groups: Groups, by: string, nowMs: number): Promise<NotificationInput[]> {
      const incidents = new Map<string, readonly string[]>();
      for (const [key, { labels, announced }] of groups) {
        if (announced?.isShared) incidents.set(SHARED_INCIDENT, []);
        else if (announced) incidents.set(key, labels);
      }
      const shared = {
        alert,
        subject: await findSubject(alert),
        kind: 'acknowledged' as const,
        groupBy: alert.state.groupBy,
        value: null,
        window: { startMs: nowMs, endMs: nowMs },
        detail: `by ${by}`,
        consoleUrl,
      };
      return [...incidents].flatMap(([incident, labels]) => {
        const eventId = deriveUuid('alert', alert.organizationId, alert.id, incident);
        const message = buildMessage({ ...shared, eventId, labels });
        return toInputs(alert, message, [incident, 'acknowledged', String(nowMs)]);
      });
    },
  };
}

const toInputs = (
  alert: Alert,
  message: ReturnType<typeof buildMessage>,
  key: readonly string[],
): NotificationInput[] =>
  alert.content.channels.map(({ webhookId }) => ({
    organizationId: alert.organizationId,
    channelId: webhookId,
    subject: { type: 'alert', id: alert.id },
    key: [alert.id, ...key],
    message,
  }));
