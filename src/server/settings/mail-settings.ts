import type { Setting } from './setting.ts';
import { INVALID, urlWithScheme } from './setting-parsers.ts';

/** For notifications by mail. */
export const MAIL_SETTINGS = {
  smtpUrl: {
    flag: '--smtp-url',
    argument: '<url>',
    variable: 'PILOTHOUSE_SMTP_URL',
    help: 'Mail server for notifications, such as smtps://user:password@mail.example.com; without it, none are sent by mail',
    isSecret: true,
    parse: urlWithScheme(/^smtps?:\/\/[^/]/),
    rule: 'must look like smtp://user:password@mail.example.com:587 or smtps://mail.example.com',
  },
  smtpFrom: {
    flag: '--smtp-from',
    argument: '<address>',
    variable: 'PILOTHOUSE_SMTP_FROM',
    help: 'Sender of notifications by mail, such as "Pilothouse <alerts@example.com>"',
    parse: (text: string): string | typeof INVALID =>
      /^([^<>@\r\n"]*<)?[^\s<>@,;"]+@[^\s<>@,;"]+>?$/.test(text) && text.includes('<') === text.includes('>')
        ? text
        : INVALID,
    rule: 'must look like alerts@example.com or Pilothouse <alerts@example.com>',
  },
} as const satisfies Record<string, Setting>;
