import { isTimeout } from '../../../kernel/tasks/time-limit.ts';
import { type Clock, SECOND_MS } from '../../../kernel/time/clock.ts';
import { createSignedRequests, formatRequestError } from '../../webhooks/signed-requests.ts';
import { getHost } from '../../webhooks/webhook.ts';
import type { Exchange, Notification, Outcome } from '../notification.ts';
import { createMailer, type MailSettings } from './email.ts';
import { toPagerDutyEvent } from './pagerduty.ts';
import { toSlackBody } from './slack.ts';
import type { HttpTarget, Target } from './target.ts';
import { toTeamsBody } from './teams.ts';
import { renderWebhookBody } from './webhook-body.ts';

/** Never rejects. */
export type Send = (target: Target, notification: Pick<Notification, 'id' | 'content'>) => Promise<Outcome>;

interface Options {
  clock: Clock;
  /** Allows loopback and private addresses. */
  allowPrivate: boolean;
  mail?: MailSettings | undefined;
}

const MAX_ANSWER_BYTES = 4096;
const UNAVAILABLE = [429, 502, 503, 504];
const HIDDEN = '***';
/** After a timeout, a receiver gets this many times as long before the next attempt. */
const RETRY_AFTER_TIMEOUTS = 4;

export function createSend({ clock, allowPrivate, mail }: Options): Send {
  const requests = createSignedRequests({ clock, allowPrivate });
  const sendMail = createMailer(mail);

  async function post(target: HttpTarget, id: string, body: string, payload: string): Promise<Outcome> {
    const { url, secret, headers, queryParams, timeoutMs } = target;
    const { origin } = new URL(url);
    const startedAt = performance.now();
    const createExchange = (): Exchange => ({
      to: origin,
      payload,
      tookMs: Math.round(performance.now() - startedAt),
    });
    try {
      const response = await requests.send(
        { url, secret },
        {
          method: 'POST',
          body,
          ...(queryParams && { query: queryParams }),
          ...(secret !== undefined && { deliveryId: id }),
          headers: { 'idempotency-key': id, ...headers },
          timeoutMs,
          maxResponseBytes: MAX_ANSWER_BYTES,
          isCut: true,
        },
      );
      const { status } = response;
      const exchange = { ...createExchange(), status, answer: response.body };
      if (status >= 200 && status <= 299) return { exchange };
      return {
        exchange,
        error: `${getHost(new URL(url))} responded with status ${status}`,
        isUnavailable: UNAVAILABLE.includes(status),
        retryAfterMs: parseRetryAfter(response.retryAfter, clock.now()),
      };
    } catch (error) {
      const failed = { exchange: createExchange(), error: formatRequestError(error, timeoutMs), isUnavailable: true };
      // It may still be working on the message, and on those before it.
      return isTimeout(error) ? { ...failed, retryAfterMs: RETRY_AFTER_TIMEOUTS * timeoutMs } : failed;
    }
  }

  return async (target, { id, content }) => {
    try {
      if (target.service === 'email') {
        if (!('message' in content)) throw new Error('A mail needs a message');
        return await sendMail(target, id, content.message);
      }
      if (!('message' in content)) return await post(target, id, content.body, content.body);
      const { message } = content;
      switch (target.service) {
        case 'slack':
          return await postJson(target, id, toSlackBody(message));
        case 'teams':
          return await postJson(target, id, toTeamsBody(message));
        case 'pagerduty': {
          const { routingKey = '' } = target;
          const body = JSON.stringify(toPagerDutyEvent(message, routingKey));
          return await post(target, id, body, JSON.stringify(toPagerDutyEvent(message, HIDDEN)));
        }
        default: {
          const body = renderWebhookBody(target, message);
          return await post(target, id, body, body);
        }
      }
    } catch (error) {
      // Only what this program does itself: a template that exceeds its limits.
      return { error: (error as Error).message, isFinal: true };
    }
  };

  function postJson(target: HttpTarget, id: string, body: object): Promise<Outcome> {
    const text = JSON.stringify(body);
    return post(target, id, text, text);
  }
}

/** Seconds, or a date. */
function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND_MS;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
