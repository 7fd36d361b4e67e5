import type { Logger } from 'pino';
import { AppError } from '../kernel/errors.ts';
import { type Clock, SECOND_MS } from '../kernel/time/clock.ts';
import type { Admission } from '../management/members/admission.ts';
import type { MemberVerifier } from '../management/members/verification.ts';
import type { State } from '../platform/state/state.ts';
import { type Provider, ProviderSessionEnded } from './oidc/provider.ts';
import { openTokens, sealTokens } from './oidc/sealed-tokens.ts';
import type { Session } from './session.ts';
import { claimRefresh, deleteSession, updateRefresh } from './store.ts';

interface Options {
  state: State;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  /** Undefined if the server has no identity provider. */
  provider: Provider | undefined;
  /** How old the answer of the provider may be. */
  refreshMs: number;
  admission: Admission;
  members: MemberVerifier;
}

/** After this time, a provider that could not be reached is asked again. */
const RETRY_MS = 30 * SECOND_MS;

export type SessionRefresh = ReturnType<typeof createSessionRefresh>;

/**
 * Asks the identity provider about the person of a session again, so that a removed group takes effect while the session is
 * open. It needs the secret of the session, so it happens with a request. While the provider cannot be reached, the last
 * answer counts.
 */
export function createSessionRefresh({ state, clock, log, provider, refreshMs, admission, members }: Options) {
  const running = new Map<string, Promise<void>>();

  async function refresh(provider: Provider, session: Session, secret: string, sealed: string): Promise<void> {
    const now = clock.now();
    // Tokens may work only once, so one process of all nodes uses them.
    if (!(await state.write((tx) => claimRefresh(tx, session, now)))) return;
    const user = await members.findUser(session.credentialId);
    if (!user) return;
    try {
      const { person, tokens } = await provider.refresh(openTokens(secret, sealed), user.subject);
      const details = { ...session.details, tokens: sealTokens(secret, tokens) };
      await state.write((tx) => updateRefresh(tx, { ...session, refreshedAt: now, details }));
      await admission.admit(person, {});
    } catch (error) {
      if (!(error instanceof ProviderSessionEnded)) {
        log.warn({ err: error, issuer: provider.issuer }, 'failed to ask the identity provider about a session');
        const refreshedAt = now - refreshMs + Math.min(RETRY_MS, refreshMs);
        await state.write((tx) => updateRefresh(tx, { ...session, refreshedAt }));
        return;
      }
      await state.write((tx) => deleteSession(tx, session.hash));
      throw new AppError('unauthorized', 'The identity provider ended this session; sign in again', { cause: error });
    }
  }

  return async (session: Session, secret: string): Promise<void> => {
    const { hash, refreshedAt, details } = session;
    if (!provider || details.tokens === undefined) return;
    const age = clock.now() - refreshedAt;
    // Negative after the clock was set back.
    if (age >= 0 && age < refreshMs) return;
    const started = running.get(hash) ?? refresh(provider, session, secret, details.tokens);
    running.set(hash, started);
    try {
      await started;
    } finally {
      running.delete(hash);
    }
  };
}
