import type { Message } from '../../src/platform/notifications/message.ts';

/** As an alert sends it, with characters that every service treats differently. */
export const message: Message = {
  kind: 'firing',
  eventId: 'event-1',
  title: 'Errors of <api> & "web"',
  body: 'Value 12.5 > 10\nsecond line',
  link: 'https://pilothouse.example.com/alerts/1?a=1&b=2',
  runbook: 'https://wiki.example.com/errors',
  severity: 'error',
  startTime: 1_790_000_000_000,
  endTime: 1_790_000_060_000,
  name: 'Errors',
  group: 'ServiceName:api',
  attributes: { ServiceName: 'api' },
  labels: { team: 'core' },
  value: 12.5,
  threshold: 'above 10',
};
