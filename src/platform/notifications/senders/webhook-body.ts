import { type Message, STATES } from '../message.ts';
import { renderTemplate } from '../template.ts';
import type { HttpTarget } from './target.ts';

/** The default bodies of the public interface. */
const DEFAULT_BODIES: Readonly<Record<string, string>> = {
  generic: '{"text":"{{title}} | {{body}} | {{link}} | {{state}} | {{startTime}} | {{endTime}} | {{eventId}}"}',
  incidentio:
    '{"title":"{{title}}","description":"{{body}}","deduplication_key":"{{eventId}}","status":"{{#if (eq state "OK")}}resolved{{else}}firing{{/if}}","source_url":"{{link}}"}',
};

/** Inside of a string of JSON. */
const escapeValue = (text: string): string => JSON.stringify(text).slice(1, -1);

export function renderWebhookBody({ service, body }: HttpTarget, message: Message): string {
  const { kind, ...members } = message;
  return renderTemplate(
    body ?? DEFAULT_BODIES[service] ?? '',
    { ...members, kind, state: STATES[kind] },
    { escapeValue },
  );
}
