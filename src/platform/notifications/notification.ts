import { HOUR_MS, SECOND_MS } from '../../kernel/time/clock.ts';
import type { Message } from './message.ts';
import type { Target } from './senders/target.ts';

/** `cancelled`: there is nothing left to send it to. `failed`: after the last attempt. */
export const STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export type Status = (typeof STATUSES)[number];

/** What a notification is about. */
export interface Subject {
  type: 'alert' | 'budget';
  id: string;
}

/** A message, or a body that is sent as it is. `target`: of a channel that was deleted, until the attempts end. */
type Content = ({ message: Message } | { body: string }) & { target?: Target | undefined };

/** What was sent in the last attempt and what came back, without secrets. */
export interface Exchange {
  /** The origin of the URL, or the addresses of a mail. */
  to: string;
  payload: string;
  /** Of HTTP. */
  status?: number | undefined;
  /** The beginning of the response. */
  answer?: string | undefined;
  tookMs: number;
}

/** The result of one attempt. It was delivered if there is no error. */
export interface Outcome {
  /** Without secrets. */
  error?: string | undefined;
  exchange?: Exchange | undefined;
  /** Further attempts would fail as well. */
  isFinal?: boolean | undefined;
  /** The receiver cannot be reached or asks for fewer requests: others would fail as well. */
  isUnavailable?: boolean | undefined;
  /** What the receiver asks for. */
  retryAfterMs?: number | undefined;
}

/** A message for one receiver, and the state of its delivery. */
export interface Notification {
  organizationId: string;
  /** The same for every attempt, so that a receiver can recognize repeated deliveries. */
  id: string;
  /** Undefined for the webhook that a subject has itself. */
  channelId: string | undefined;
  subject: Subject;
  /** Notifications of one event are sent in order. */
  eventId: string;
  content: Content;
  createdAt: number;
  status: Status;
  attempts: number;
  /** Undefined when no attempt is due. */
  nextAttemptAt: number | undefined;
  lastAttemptAt?: number | undefined;
  /** Why the last attempt failed. Contains no secrets. */
  lastError?: string | undefined;
  exchange?: Exchange | undefined;
}

/** The delays between delivery attempts, about a day in total. */
const RETRY_DELAYS_SECONDS = [10, 30, 60, 300, 900, 3600, 10_800, 21_600, 43_200];

/** The longest delay between two attempts. A time further ahead is from before the clock was set back. */
export const MAX_RETRY_DELAY_MS = Math.max(...RETRY_DELAYS_SECONDS) * SECOND_MS;

/** A receiver may ask for a longer delay, up to this. */
const MAX_REQUESTED_DELAY_MS = HOUR_MS;

/** Undefined after the last attempt. */
export function findRetryDelayMs(attempts: number, requestedMs = 0): number | undefined {
  const seconds = RETRY_DELAYS_SECONDS[attempts - 1];
  return seconds === undefined
    ? undefined
    : Math.max(seconds * SECOND_MS, Math.min(requestedMs, MAX_REQUESTED_DELAY_MS));
}

/** For the other notifications of a receiver that did not respond, however often this one was tried. */
export const getPauseMs = (requestedMs = 0): number => findRetryDelayMs(1, requestedMs) ?? 0;
