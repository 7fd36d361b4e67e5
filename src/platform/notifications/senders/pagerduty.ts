import { createHash } from 'node:crypto';
import { cutText } from '../../../kernel/text.ts';
import { isoTime } from '../../../kernel/time/clock.ts';
import type { Message, MessageKind } from '../message.ts';

export const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';

const MAX_KEY_CHARACTERS = 255;
const MAX_SUMMARY_CHARACTERS = 1024;

const ACTIONS: Readonly<Record<MessageKind, 'trigger' | 'acknowledge' | 'resolve'>> = {
  firing: 'trigger',
  no_data: 'trigger',
  failed: 'trigger',
  test: 'trigger',
  acknowledged: 'acknowledge',
  resolved: 'resolve',
};

/** An event of the Events API v2. The key is the same for everything about one incident. */
export function toPagerDutyEvent(message: Message, routingKey: string) {
  const { kind, eventId, title, body, link, runbook, severity, name, group } = message;
  const action = ACTIONS[kind];
  const event = { routing_key: routingKey, event_action: action, dedup_key: toKey(eventId) };
  if (action !== 'trigger') return event;
  const links = [
    ...(link === undefined ? [] : [{ href: link, text: 'Open in Pilothouse' }]),
    ...(runbook === undefined ? [] : [{ href: runbook, text: 'Runbook' }]),
  ];
  return {
    ...event,
    payload: {
      summary: cutText(title, MAX_SUMMARY_CHARACTERS),
      source: cutText(name === '' ? 'Pilothouse' : name, MAX_SUMMARY_CHARACTERS),
      severity,
      timestamp: isoTime(message.endTime),
      ...(group !== undefined && { group: cutText(group, MAX_SUMMARY_CHARACTERS) }),
      class: kind,
      custom_details: {
        body,
        value: message.value,
        threshold: message.threshold,
        attributes: message.attributes,
        labels: message.labels,
      },
    },
    client: 'Pilothouse',
    ...(link !== undefined && { client_url: link }),
    ...(links.length > 0 && { links }),
  };
}

const toKey = (eventId: string): string =>
  eventId.length <= MAX_KEY_CHARACTERS ? eventId : createHash('sha256').update(eventId).digest('hex');
