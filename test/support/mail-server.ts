import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll } from 'vitest';

interface ReceivedMail {
  from: string;
  to: string[];
  source: string;
}

/** A mail server that accepts one user, and every recipient but rejected@example.com. Use it inside tests and hooks only. */
export function useMailServer() {
  const mail = { port: 0, received: [] as ReceivedMail[], isAvailable: true };
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, callback) {
      if (username === 'user' && password === 'p@ss') callback(null, { user: username });
      else callback(new Error('Wrong password for p@ss'));
    },
    onMailFrom(_address, _session, callback) {
      callback(mail.isAvailable ? null : new Error('Mailbox busy'));
    },
    onRcptTo({ address }, _session, callback) {
      callback(address === 'rejected@example.com' ? new Error('No such mailbox') : null);
    },
    onData(stream, { envelope }, callback) {
      text(stream).then((source) => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : '';
        mail.received.push({ from, to: envelope.rcptTo.map(({ address }) => address), source });
        callback(null, 'Accepted as 1');
      }, callback);
    },
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    mail.port = (server.server.address() as AddressInfo).port;
  });
  afterAll(() => new Promise<void>((resolve) => server.close(resolve)));
  return mail;
}
