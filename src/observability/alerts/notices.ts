import { deriveUuid } from '../../kernel/ids.ts';
import type { NotificationInput } from '../../management/notifications/notifications.ts';
import type { MessageKind } from '../../platform/notifications/message.ts';
import { type Alert, listFailureChannels, toChannelIds } from './alert.ts';
import { buildMessage, type Subject } from './alert-message.ts';
import { union } from './announcement.ts';
import type { SentAnnouncement } from './evaluation.ts';
import type { Announced, Groups } from './judgment.ts';
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

interface SharedMessage extends Pick<SentAnnouncement, 'kind'> {
  channel: string;
  /** The number of its groups. */
  count: number;
}

/** Each channel has its own: groups can have been announced in different ones. */
function listShared(sent: readonly SentAnnouncement[]): SharedMessage[] {
  const messages = new Map<string, SharedMessage>();
  for (const { kind, channels, isShared } of sent) {
    if (!isShared) continue;
    for (const channel of channels) {
      const message = messages.get(`${kind} ${channel}`) ?? { kind, channel, count: 0 };
      message.count++;
      messages.set(`${kind} ${channel}`, message);
    }
  }
  return [...messages.values()];
}

/** How many messages the channels get. */
export const countMessages = (sent: readonly SentAnnouncement[]): number =>
  sent.filter(({ isShared }) => !isShared).length + listShared(sent).length;

/** That an alert cannot be evaluated, or can be again, for these channels. */
export interface FailureNotice {
  kind: 'failed' | 'resolved';
  channels: readonly string[];
}

interface Found {
  sent: readonly SentAnnouncement[];
  failureNotice?: FailureNotice | undefined;
  state: Alert['state'];
  /** Instead of values. */
  detail?: string | undefined;
}

export type AlertNotices = ReturnType<typeof createAlertNotices>;

/** Builds the notifications of alerts. */
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
    const add = (
      { kind, channels }: { kind: MessageKind; channels: readonly string[] },
      incident: string,
      details: Partial<Parameters<typeof buildMessage>[0]>,
    ) => {
      const eventId = deriveUuid('alert', alert.organizationId, alert.id, incident);
      const message = buildMessage({ ...shared, kind, eventId, labels: [], value: null, ...details });
      notices.push(...toInputs(alert, channels, message, [incident, kind, String(nowMs)]));
    };
    let sampled = 0;
    for (const one of sent.filter(({ isShared }) => !isShared)) {
      const { kind, key, group } = one;
      const { labels, value } = group;
      const hasSamples = kind === 'firing' && sampled++ < MAX_SAMPLED_GROUPS;
      const samples = hasSamples ? await readSamples(alert, { groupBy, labels }, window) : [];
      add(one, key, { labels, value, samples, detail });
    }
    for (const { kind, channel, count } of listShared(sent)) {
      const groups = kind === 'resolved' ? 'all other groups' : `${count} more groups`;
      add({ kind, channels: [channel] }, SHARED_INCIDENT, { detail: groups });
    }
    const reason = detail ?? state.failure?.message ?? 'The alert can be evaluated again';
    if (failureNotice) add(failureNotice, 'evaluation', { detail: reason });
    return notices;
  }

  return {
    findSubject,
    build,

    /**
     * Of a deleted alert, or of one channel that is deleted: what was announced is resolved there, also while the alert is
     * silenced, because nothing will say so later.
     */
    buildDeletion(
      alert: Alert,
      groups: Groups,
      nowMs: number,
      { subjectName = `Alert ${alert.id}`, channelId }: { subjectName?: string | undefined; channelId?: string },
    ): Promise<NotificationInput[]> {
      const { state } = alert;
      const isMeant = (channel: string) => channelId === undefined || channel === channelId;
      const sent = [...groups].flatMap(([key, group]) => {
        const channels = listAnnouncedChannels(alert, group.announced).filter(isMeant);
        if (!group.announced || channels.length === 0) return [];
        const { isShared } = group.announced;
        return [{ kind: 'resolved' as const, channels, key, group: { ...group, value: null }, isShared }];
      });
      const failed = listFailureChannels(alert).filter(isMeant);
      const failureNotice = failed.length > 0 ? { kind: 'resolved' as const, channels: failed } : undefined;
      const isAlertDeleted = channelId === undefined;
      const subject = { name: subjectName, path: isAlertDeleted ? '/console/alerts' : `/console/alerts/${alert.id}` };
      const detail = isAlertDeleted ? 'The alert was deleted' : 'The webhook was deleted';
      const windows = { startMs: nowMs, count: 0, stepMs: 0 };
      return build(alert, windows, { sent, state, detail, failureNotice }, nowMs, subject);
    },

    /** A person has seen it. Sent where it was announced. */
    async buildAcknowledgement(alert: Alert, groups: Groups, by: string, nowMs: number): Promise<NotificationInput[]> {
      const incidents = new Map<string, { labels: readonly string[]; channels: readonly string[] }>();
      for (const [key, { labels, announced }] of groups) {
        const channels = listAnnouncedChannels(alert, announced);
        const shared = incidents.get(SHARED_INCIDENT)?.channels ?? [];
        if (announced?.isShared) incidents.set(SHARED_INCIDENT, { labels: [], channels: union(shared, channels) });
        else if (announced) incidents.set(key, { labels, channels });
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
      return [...incidents].flatMap(([incident, { labels, channels }]) => {
        const eventId = deriveUuid('alert', alert.organizationId, alert.id, incident);
        const message = buildMessage({ ...shared, eventId, labels });
        return toInputs(alert, channels, message, [incident, 'acknowledged', String(nowMs)]);
      });
    },
  };
}

/** The ids of the channels that a group was announced in. */
export const listAnnouncedChannels = ({ content }: Alert, announced: Announced | undefined): readonly string[] =>
  announced ? (announced.channels ?? toChannelIds(content)) : [];

const toInputs = (
  alert: Alert,
  channels: readonly string[],
  message: ReturnType<typeof buildMessage>,
  key: readonly string[],
): NotificationInput[] =>
  channels.map((channelId) => ({
    organizationId: alert.organizationId,
    channelId,
    subject: { type: 'alert', id: alert.id },
    key: [alert.id, ...key],
    message,
  }));
