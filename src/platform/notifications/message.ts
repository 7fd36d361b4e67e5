import { cutText } from '../../kernel/text.ts';

export const MESSAGE_KINDS = ['firing', 'resolved', 'no_data', 'failed', 'acknowledged', 'test'] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

export const SEVERITIES = ['critical', 'error', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** What a notification says, the same for every channel. */
export interface Message {
  kind: MessageKind;
  /** The same for everything about one incident (alert and group): the dedup_key of PagerDuty, `eventId` of templates. */
  eventId: string;
  /** Rendered. Longer text is cut: see `limitMessage`. */
  title: string;
  body: string;
  link?: string;
  runbook?: string;
  severity: Severity;
  /** Of the window, in epoch milliseconds. */
  startTime: number;
  endTime: number;
  /** Of the alert or budget. */
  name: string;
  /** Such as "ServiceName:api"; absent without groups. */
  group?: string;
  /** The values of the group by expression. */
  attributes?: Record<string, string>;
  labels?: Record<string, string>;
  value?: number | null;
  threshold?: string;
}

const MAX_TITLE_CHARACTERS = 512;
const MAX_BODY_CHARACTERS = 16_384;

/** A message that every channel can send. */
export const limitMessage = (message: Message): Message => ({
  ...message,
  title: cutText(message.title.replace(/\s+/g, ' ').trim(), MAX_TITLE_CHARACTERS),
  body: cutText(message.body, MAX_BODY_CHARACTERS),
});

/** The words that templates of the public interface compare `state` with, and ours for what it does not have. */
export const STATES: Readonly<Record<MessageKind, string>> = {
  firing: 'ALERT',
  resolved: 'OK',
  no_data: 'NO_DATA',
  failed: 'ERROR',
  acknowledged: 'ACKNOWLEDGED',
  test: 'TEST',
};
