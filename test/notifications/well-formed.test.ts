import { expect, it } from 'vitest';
import { cutCharacters, cutText } from '../../src/kernel/text.ts';
import { limitMessage, type Message } from '../../src/platform/notifications/message.ts';
import { toPagerDutyEvent } from '../../src/platform/notifications/senders/pagerduty.ts';
import { toSlackBody } from '../../src/platform/notifications/senders/slack.ts';
import { toTeamsBody } from '../../src/platform/notifications/senders/teams.ts';
import { renderWebhookBody } from '../../src/platform/notifications/senders/webhook-body.ts';
import { message } from './message.ts';

const listTexts = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : [value].filter(isText);
const isText = (value: unknown): value is string => typeof value === 'string';

/** `shift` moves every cut to the other half of a character. */
const toLongMessage = (shift: number): Message => {
  const text = 'a'.repeat(shift) + '😀'.repeat(10_000);
  return { ...message, title: text, body: text, name: text, group: text, attributes: { a: text }, labels: { a: text } };
};

it.each([0, 1])('every message is well-formed if its texts are too long, shifted by %s', (shift) => {
  const limited = limitMessage(toLongMessage(shift));
  const target = { url: '', secret: undefined, headers: {}, queryParams: {}, routingKey: undefined, timeoutMs: 5000 };
  const bodies = [
    limited,
    toSlackBody(limited),
    toTeamsBody(limited),
    toPagerDutyEvent(limited, 'key'),
    ...(['generic', 'incidentio'] as const).map((service) =>
      JSON.parse(renderWebhookBody({ ...target, service, body: '{"name": "{{title}} {{body}}"}' }, limited)),
    ),
  ];
  for (const body of bodies) {
    const texts = listTexts(body);
    expect(texts.some((text) => text.includes('😀'))).toBe(true);
    expect(texts.filter((text) => !text.isWellFormed() || text.includes('\uFFFD'))).toEqual([]);
  }
});

it('a text is cut between characters, at every length', () => {
  const text = 'aé😀b😀😀c';
  for (let max = 1; max <= text.length + 1; max++) {
    const cut = cutText(text, max);
    expect(cut.length, cut).toBeLessThanOrEqual(max);
    expect(text.startsWith(cut.replace(/…$/, '')), cut).toBe(true);
    expect(text.startsWith(cutCharacters(text, max))).toBe(true);
    expect(cut.isWellFormed() && cutCharacters(text, max).isWellFormed()).toBe(true);
  }
  expect(cutText(text, text.length)).toBe(text);
  expect(cutText('a\uD83D', 10)).toBe('a\uFFFD');
});
