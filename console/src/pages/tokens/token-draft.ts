import type { DashboardTokenUpdateBody } from '../../api/generated.ts';
import type { Token } from '../../api/types.ts';
import { type Expiry, isFutureTime, toExpireAt } from '../../parts/forms/expiry.ts';

/** State of the form for a token. */
export interface TokenDraft {
  name: string;
  access: Token['access'];
  expiry: Expiry;
  /** Value of the `datetime-local` field; used if `expiry` is `at`. */
  expireAt: string;
}

export const ACCESS_LABELS: Record<Token['access'], string> = {
  read: 'Read',
  write: 'Read and write',
  ingest: 'Send telemetry',
};

/** What a token with this access can do. */
export const ACCESS_HELP: Record<Token['access'], string> = {
  read: 'Can read dashboards, sources and their data.',
  write: 'Can read and change dashboards and sources.',
  ingest: 'Can send logs, traces and metrics with OpenTelemetry. Cannot read anything.',
};

export const createTokenDraft = (): TokenDraft => ({ name: '', access: 'read', expiry: '90', expireAt: '' });

export const toTokenDraft = ({ name, access }: Token): TokenDraft => ({ name, access, expiry: 'keep', expireAt: '' });

export const toCreateBody = (draft: TokenDraft, now: Date) => {
  const expireAt = toExpireAt(draft, now);
  return {
    ...(draft.name.trim() === '' ? {} : { name: draft.name.trim() }),
    access: draft.access,
    ...(expireAt === undefined ? {} : { expireAt }),
  };
};

/** Only the changed fields, so that concurrent changes to other fields are kept. */
export const toUpdateBody = (draft: TokenDraft, token: Token, now: Date): DashboardTokenUpdateBody => ({
  ...(draft.name === token.name ? {} : { name: draft.name.trim() }),
  ...(draft.access === token.access ? {} : { access: draft.access }),
  ...(draft.expiry === 'keep' ? {} : { expireAt: toExpireAt(draft, now) ?? null }),
});

/** An error that can be found without the server. */
export const findExpiryError = ({ expiry, expireAt }: TokenDraft, now: Date): string | undefined =>
  expiry === 'at' && !isFutureTime(expireAt, now) ? 'Select a time in the future' : undefined;
