import { createHash } from 'node:crypto';
import { Socket } from 'node:net';
import { limitTime } from '../../../kernel/tasks/time-limit.ts';
import { cutText } from '../../../kernel/text.ts';
import { SECOND_MS } from '../../../kernel/time/clock.ts';
import type { Message } from '../message.ts';
import type { Outcome } from '../notification.ts';
import type { MailTarget } from './target.ts';

export interface MailSettings {
  /** `smtp://user:password@host:port`, or `smtps:` for TLS from the start. */
  url: string;
  /** `alerts@example.com`, or `Alerts <alerts@example.com>`. */
  from: string;
}

/** Of each step. */
const TIMEOUT_MS = 5 * SECOND_MS;
/** Of a mail, however slowly the server responds. */
const MAIL_TIMEOUT_MS = 30 * SECOND_MS;
const MAX_ERROR_CHARACTERS = 200;
const MAX_ADDRESS_CHARACTERS = 254;
const ADDRESS = /^[^\s@<>(),;:"\\[\]]{1,64}@[^\s@<>(),;:"\\[\]]+$/;

export const isMailAddress = (text: string): boolean => text.length <= MAX_ADDRESS_CHARACTERS && ADDRESS.test(text);

export function createMailer(settings: MailSettings | undefined) {
  return async ({ to }: MailTarget, id: string, message: Message): Promise<Outcome> => {
    const text = formatText(message);
    const startedAt = performance.now();
    const createExchange = () => ({
      to: to.join(', '),
      payload: text,
      tookMs: Math.round(performance.now() - startedAt),
    });
    if (!settings) return { exchange: createExchange(), error: 'The server has no mail server: set --smtp-url' };
    try {
      const thread = createHash('sha256').update(message.eventId).digest('hex').slice(0, 32);
      const answer = await sendMail(settings, { id, to, subject: message.title, text, thread });
      return { exchange: { ...createExchange(), answer } };
    } catch (error) {
      return { exchange: createExchange(), error: formatMailError(error), isUnavailable: true };
    }
  };
}

interface Mail {
  id: string;
  to: readonly string[];
  subject: string;
  text: string;
  /** Mail programs show messages of one thread together. */
  thread?: string;
}

/** Returns the answer of the mail server; throws if it did not accept the mail. */
export async function sendMail(settings: MailSettings, { id, to, subject, text, thread }: Mail): Promise<string> {
  // Most servers send no mail.
  const { createTransport } = await import('nodemailer');
  // A server that sends a byte now and then does not reach the limits of the steps.
  const socket = new Socket({ signal: limitTime(MAIL_TIMEOUT_MS) });
  const transport = createTransport({
    url: settings.url,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    socket,
  });
  const domain = settings.from.replace(/^.*@|>.*$/g, '') || 'pilothouse';
  const { response, rejected } = await transport
    .sendMail({
      from: settings.from,
      // As objects, so that nothing in them is parsed.
      to: to.map((address) => ({ name: '', address })),
      subject,
      text,
      // A repeated delivery is shown once.
      messageId: `<${id}@${domain}>`,
      ...(thread !== undefined && { references: [`<${thread}@${domain}>`] }),
      headers: { 'auto-submitted': 'auto-generated' },
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    // The library waits for the server to end the connection.
    .finally(() => socket.destroy());
  return rejected.length === 0 ? response : `${response} (rejected: ${rejected.length} of ${to.length})`;
}

function formatText({ body, link, runbook, name, group, severity }: Message): string {
  const details = [
    `Name: ${name}`,
    ...(group === undefined ? [] : [`Group: ${group}`]),
    `Severity: ${severity}`,
    ...(link === undefined ? [] : [`Link: ${link}`]),
    ...(runbook === undefined ? [] : [`Runbook: ${runbook}`]),
  ];
  return `${body}\n\n${details.join('\n')}\n`;
}

/** Without the credentials that a mail server may repeat. */
export function formatMailError(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return code === 'EAUTH'
    ? 'The mail server rejected the user name or password'
    : cutText(message.replace(/\s+/g, ' '), MAX_ERROR_CHARACTERS);
}
