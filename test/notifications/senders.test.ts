import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/time/clock.ts';
import type { Message } from '../../src/platform/notifications/message.ts';
import { createSend } from '../../src/platform/notifications/senders/send.ts';
import type { HttpTarget } from '../../src/platform/notifications/senders/target.ts';
import { newStandardSecret } from '../../src/platform/webhooks/signed-requests.ts';
import { useMailServer } from '../support/mail-server.ts';
import { useMisbehavingReceiver } from '../support/misbehaving-receiver.ts';
import { useReceiver } from '../support/receiver.ts';
import { message } from './message.ts';

const ID = '0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11';
const send = createSend({ clock: systemClock, allowPrivate: true });

describe('a message for', () => {
  const receiver = useReceiver();

  /** Sends a message, and returns what arrived. */
  async function deliver(target: Partial<HttpTarget> & Pick<HttpTarget, 'service'>, more: Partial<Message> = {}) {
    receiver.received.length = 0;
    receiver.status = 202;
    const outcome = await send(
      { url: receiver.url, timeoutMs: 10_000, ...target },
      { id: ID, content: { message: { ...message, ...more } } },
    );
    expect(outcome).toMatchObject({ exchange: { status: 202, to: new URL(receiver.url).origin } });
    expect(outcome.error).toBeUndefined();
    const [request] = receiver.received;
    if (!request) throw new Error('nothing was received');
    return { ...request, payload: outcome.exchange?.payload };
  }

  it('a generic webhook is signed, and the library of Standard Webhooks verifies it', async () => {
    const secret = newStandardSecret();
    const { headers, body, path } = await deliver({
      service: 'generic',
      secret,
      headers: { Authorization: 'Bearer t', 'Content-Type': 'text/plain' },
      queryParams: { room: 'a b' },
    });
    const signed = headers as Record<string, string>;
    expect(() => new Webhook(secret).verify(body, signed)).not.toThrow();
    expect(() => new Webhook(newStandardSecret()).verify(body, signed)).toThrow();
    const seconds = signed['webhook-timestamp'];
    const own = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
    expect(signed).toMatchObject({
      'webhook-id': ID,
      'idempotency-key': ID,
      'x-pilothouse-delivery': ID,
      'x-pilothouse-signature': `t=${seconds},v1=${own}`,
      authorization: 'Bearer t',
      'content-type': 'text/plain',
    });
    expect(path).toBe('/hook?token=in-the-address&room=a+b');
    expect(JSON.parse(body)).toEqual({
      text: `${message.title} | ${message.body} | ${message.link} | ALERT | 1790000000000 | 1790000060000 | event-1`,
    });
  });

  it('a generic webhook with a template has JSON with every value escaped', async () => {
    const template =
      '{"t":"{{title}}","b":"{{body}}","s":"{{state}}","v":{{value}},"g":"{{group}}","a":"{{attributes.ServiceName}}","l":"{{labels.team}}","sev":"{{severity}}","r":"{{runbook}}","n":"{{name}}","e":{{endTime}} }';
    const { body } = await deliver({ service: 'generic', body: template });
    expect(JSON.parse(body)).toEqual({
      t: message.title,
      b: message.body,
      s: 'ALERT',
      v: 12.5,
      g: 'ServiceName:api',
      a: 'api',
      l: 'core',
      sev: 'error',
      r: message.runbook,
      n: 'Errors',
      e: 1_790_000_060_000,
    });
  });

  it.each([
    ['firing', 'firing'],
    ['no_data', 'firing'],
    ['resolved', 'resolved'],
  ] as const)('incident.io that is %s has the status %s', async (kind, status) => {
    const { body } = await deliver({ service: 'incidentio' }, { kind });
    expect(JSON.parse(body)).toEqual({
      title: message.title,
      description: message.body,
      deduplication_key: 'event-1',
      status,
      source_url: message.link,
    });
  });

  it('Slack has a text and a section with the linked title, escaped', async () => {
    const { body } = await deliver({ service: 'slack' });
    const title = 'Errors of &lt;api&gt; &amp; "web"';
    expect(JSON.parse(body)).toEqual({
      text: title,
      blocks: [
        {
          type: 'section',
          text: {
            type: 'mrkdwn',
            text: `*<https://pilothouse.example.com/alerts/1?a=1&amp;b=2|${title}>*\nValue 12.5 &gt; 10\nsecond line`,
          },
        },
      ],
    });
    const long = JSON.parse((await deliver({ service: 'slack' }, { body: '&<>'.repeat(5000) })).body);
    const { text } = long.blocks[0].text;
    expect(text.length).toBeLessThanOrEqual(3000);
    expect(text).toMatch(/(&amp;|&lt;|&gt;)…$/);
  });

  it('Teams is an Adaptive Card', async () => {
    const { body } = await deliver({ service: 'teams' }, { body: 'x'.repeat(16_000) });
    const [{ contentType, content }] = JSON.parse(body).attachments;
    expect(contentType).toBe('application/vnd.microsoft.card.adaptive');
    expect(content).toMatchObject({
      type: 'AdaptiveCard',
      body: [
        { text: message.title, color: 'Attention', wrap: true },
        { text: expect.stringMatching(/^x{5999}…$/) },
        {},
      ],
      actions: [
        { type: 'Action.OpenUrl', url: message.link },
        { type: 'Action.OpenUrl', url: message.runbook },
      ],
    });
    expect(body.length).toBeLessThan(28_000);
  });

  it('PagerDuty triggers, acknowledges and resolves with the same key, and its routing key is not kept', async () => {
    const target = { service: 'pagerduty', routingKey: 'secret-routing-key' } as const;
    const { body, payload } = await deliver(target);
    expect(JSON.parse(body)).toMatchObject({
      routing_key: 'secret-routing-key',
      event_action: 'trigger',
      dedup_key: 'event-1',
      payload: {
        summary: message.title,
        source: 'Errors',
        severity: 'error',
        group: 'ServiceName:api',
        custom_details: { body: message.body, value: 12.5, attributes: { ServiceName: 'api' } },
      },
      client_url: message.link,
    });
    expect(payload).toContain('"routing_key":"***"');
    expect(payload).not.toContain('secret-routing-key');
    for (const [kind, action] of [
      ['acknowledged', 'acknowledge'],
      ['resolved', 'resolve'],
    ] as const)
      expect(JSON.parse((await deliver(target, { kind })).body)).toEqual({
        routing_key: 'secret-routing-key',
        event_action: action,
        dedup_key: 'event-1',
      });
    const { dedup_key: key } = JSON.parse((await deliver(target, { eventId: 'e'.repeat(300) })).body);
    expect(key).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('a mail', () => {
  const mail = useMailServer();
  const mailTo = (to: string[], url = `smtp://user:p%40ss@127.0.0.1:${mail.port}`, more: Partial<Message> = {}) =>
    createSend({ clock: systemClock, allowPrivate: false, mail: { url, from: 'Pilothouse <alerts@example.com>' } })(
      { service: 'email', to },
      { id: ID, content: { message: { ...message, ...more } } },
    );

  it('reaches all recipients, with a stable id and thread', async () => {
    const { error, exchange } = await mailTo(['a@example.com', 'b@example.com']);
    expect(error).toBeUndefined();
    expect(exchange).toMatchObject({ to: 'a@example.com, b@example.com', answer: expect.stringContaining('Accepted') });
    const [received] = mail.received;
    expect(received).toMatchObject({ from: 'alerts@example.com', to: ['a@example.com', 'b@example.com'] });
    expect(received?.source).toContain(`Message-ID: <${ID}@example.com>`);
    expect(received?.source).toMatch(/References: <[0-9a-f]{32}@example\.com>/);
    expect(received?.source).toContain('Subject: =?UTF-8?Q?Errors_of_=3Capi=3E_=26_=22web=22?=');
    expect(received?.source).toContain('second line');
    expect(received?.source).toContain(`Runbook: ${message.runbook}`);
  });

  it('cannot be given headers or recipients by its text', async () => {
    mail.received.length = 0;
    await mailTo(['a@example.com'], undefined, { title: 'x\r\nBcc: evil@example.com', eventId: 'a\r\nX-Evil: 1' });
    expect(mail.received).toMatchObject([{ to: ['a@example.com'] }]);
    expect(mail.received[0]?.source).not.toMatch(/^(Bcc|X-Evil):/m);
  });

  it('that is rejected has the reason, without the password', async () => {
    expect((await mailTo(['rejected@example.com'])).error).toContain('No such mailbox');
    const { exchange } = await mailTo(['a@example.com', 'rejected@example.com']);
    expect(exchange?.answer).toContain('rejected: 1 of 2');
    const wrong = await mailTo(['a@example.com'], `smtp://user:wrong@127.0.0.1:${mail.port}`);
    expect(wrong.error).toBe('The mail server rejected the user name or password');
    mail.isAvailable = false;
    expect((await mailTo(['a@example.com'])).error).toContain('Mailbox busy');
    expect((await mailTo(['a@example.com'], 'smtp://127.0.0.1:1')).error).toContain('ECONNREFUSED');
  });
});

describe('a receiver that', () => {
  const receiver = useMisbehavingReceiver();
  const deliver = (path: string, sender = send, timeoutMs = 1000) =>
    sender({ service: 'generic', url: `${receiver.url}/${path}`, timeoutMs }, { id: ID, content: { message } });

  it('hangs is given up', async () => {
    expect(await deliver('hang')).toMatchObject({
      error: 'The receiver did not respond within 1 s',
      isUnavailable: true,
      // It may still be working on the message.
      retryAfterMs: 4000,
    });
  });

  it('hangs after it has accepted the message, has accepted it', async () => {
    const { error, exchange } = await deliver('hang-after-head');
    expect([error, exchange?.status, exchange?.answer]).toEqual([undefined, 200, 'some']);
  });

  it('sends without end is read to 4 KB', async () => {
    const { error, exchange } = await deliver('endless');
    expect([error, exchange?.answer?.length]).toEqual([undefined, 4096]);
  });

  it('redirects is not followed', async () => {
    const { error } = await deliver('redirect-to-private');
    expect(error).toBe('127.0.0.1 responded with status 307');
  });

  it('asks for a pause gets it', async () => {
    expect(await deliver('too-many')).toMatchObject({
      isUnavailable: true,
      retryAfterMs: 120_000,
      exchange: { answer: 'slow down' },
    });
  });

  it('has a private address is not called unless that is allowed', async () => {
    receiver.paths.length = 0;
    const { error } = await deliver('hang', createSend({ clock: systemClock, allowPrivate: false }));
    expect(error).toContain('The address is private');
    expect(receiver.paths).toEqual([]);
  });

  it('gets nothing if the template exceeds its limits, and never will', async () => {
    const body = '{{body}}'.repeat(500);
    const { error, isFinal } = await send(
      { service: 'generic', url: `${receiver.url}/hang`, body, timeoutMs: 1000 },
      { id: ID, content: { message: { ...message, body: 'x'.repeat(16_000) } } },
    );
    expect([error, isFinal]).toEqual(['The rendered template has more than 65536 characters', true]);
  });
});
