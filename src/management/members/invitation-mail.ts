import type { Logger } from 'pino';
import { isoTime } from '../../kernel/time/clock.ts';
import { formatMailError, type MailSettings, sendMail } from '../../platform/notifications/senders/email.ts';
import type { Organizations } from '../organizations/organizations.ts';
import type { Invitation } from './member.ts';

interface Options {
  organizations: Organizations;
  smtp: MailSettings | undefined;
  publicUrl: string | undefined;
  log: Pick<Logger, 'warn'>;
}

export type SendInvitation = ReturnType<typeof createInvitationMail>;

/**
 * Sends the link of an invitation. It is a secret, so it is not queued with the notifications, which are stored and shown;
 * after a failure, the link in the response can be sent by other means.
 */
export function createInvitationMail({ organizations, smtp, publicUrl, log }: Options) {
  return async (
    { id, organizationId, email, expireAt }: Invitation,
    path: string,
  ): Promise<'sent' | 'failed' | 'off'> => {
    if (!smtp || publicUrl === undefined) return 'off';
    const { name } = await organizations.get(organizationId);
    try {
      await sendMail(smtp, {
        id,
        to: [email],
        subject: `Invitation to ${name.replace(/\s+/g, ' ')} on Pilothouse`,
        text: `You are invited to the organization ${name} on Pilothouse.\n\nOpen this link to join:\n${publicUrl}${path}\n\nThe invitation is for ${email} and expires at ${isoTime(expireAt)}.\n`,
      });
      return 'sent';
    } catch (error) {
      log.warn({ organizationId, reason: formatMailError(error) }, 'failed to send an invitation by mail');
      return 'failed';
    }
  };
}
