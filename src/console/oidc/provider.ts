import type { Logger } from 'pino';
import { SECOND_MS } from '../../kernel/time/clock.ts';
import type { Person } from '../../management/members/admission.ts';
import type { Claims } from '../../management/members/member.ts';
import { isFreshSignIn } from '../session.ts';
import { createProviderClient, type Logout, type ProviderClient, type ProviderSettings } from './provider-client.ts';

interface SignInSettings extends ProviderSettings {
  scopes: string;
  /** Where the provider sends the browser back to. */
  redirectUrl: string;
}

/** The tokens of a session at the provider. */
export interface ProviderTokens {
  accessToken: string;
  refreshToken?: string | undefined;
  /** Identifies the session when the person signs out at the provider. */
  idToken?: string | undefined;
}

/** What the browser keeps between leaving for the provider and coming back. */
export interface Transaction {
  state: string;
  nonce: string;
  verifier: string;
  /** Only to explain a failure: the browser can change it, so it proves nothing. */
  isFresh: boolean;
}

interface ProviderSignIn {
  person: Person;
  /** The provider's id of its session; empty if it has none. */
  providerSession: string;
  /** When the person proved who they are, in epoch milliseconds; 0 if the provider does not say. */
  authenticatedAt: number;
  tokens: ProviderTokens;
}

/** Why a sign-in failed; the sign-in page has a sentence for each. */
export type SignInProblem =
  | 'no-provider'
  | 'provider-unavailable'
  | 'denied'
  | 'expired'
  | 'invalid-response'
  | 'not-fresh'
  | 'not-a-member'
  | 'too-many-attempts';

export class SignInError extends Error {
  readonly problem: SignInProblem;

  constructor(problem: SignInProblem, options?: ErrorOptions) {
    super(problem, options);
    this.problem = problem;
  }
}

/** The provider has ended the session, or does not say anything about the person any more. */
export class ProviderSessionEnded extends Error {}

interface Options {
  settings: SignInSettings;
  log: Pick<Logger, 'warn'>;
}

export type Provider = ReturnType<typeof createProvider>;

/** The OpenID Connect provider: authorization code flow with PKCE, state and nonce. */
export function createProvider({ settings, log }: Options) {
  const { issuer, scopes, redirectUrl } = settings;
  const getClient = createProviderClient(settings);

  async function readUserInfo({ api, config }: ProviderClient, accessToken: string, subject: string): Promise<Claims> {
    if (config.serverMetadata().userinfo_endpoint === undefined) return {};
    return api.fetchUserInfo(config, accessToken, subject);
  }

  /** Throws `SignInError`: a provider that cannot be reached, or a response that was not accepted. */
  async function orProblem<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof SignInError) throw error;
      const problem = findProblem(error);
      log.warn({ err: error, issuer, problem }, 'sign-in with the identity provider failed');
      throw new SignInError(problem, { cause: error });
    }
  }

  return {
    issuer,

    /** `isFresh`: the provider must ask the person again, also if they are signed in there. */
    start: (isFresh: boolean): Promise<{ url: string; transaction: Transaction }> =>
      orProblem(async () => {
        const { api, config } = await getClient();
        const transaction = {
          state: api.randomState(),
          nonce: api.randomNonce(),
          verifier: api.randomPKCECodeVerifier(),
          isFresh,
        };
        const url = api.buildAuthorizationUrl(config, {
          redirect_uri: redirectUrl,
          scope: scopes,
          state: transaction.state,
          nonce: transaction.nonce,
          code_challenge: await api.calculatePKCECodeChallenge(transaction.verifier),
          code_challenge_method: 'S256',
          // Some providers grant offline access only together with consent.
          ...(isFresh ? { max_age: '0', prompt: 'login' } : undefined),
        });
        return { url: url.href, transaction };
      }),

    /** Exchanges the code in the query that the provider sent the browser back with. */
    finish: (query: string, { state, nonce, verifier, isFresh }: Transaction, now: number): Promise<ProviderSignIn> =>
      orProblem(async () => {
        const client = await getClient();
        const { api, config } = client;
        const response = await api.authorizationCodeGrant(config, new URL(`${redirectUrl}?${query}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const idClaims = response.claims() as Claims & { sub: string };
        const claims = merge(idClaims, await readUserInfo(client, response.access_token, idClaims.sub));
        const authenticatedAt = readAuthenticationTime(idClaims, now);
        if (isFresh && !isFreshSignIn(authenticatedAt, now)) throw new SignInError('not-fresh');
        return {
          person: { issuer, subject: idClaims.sub, claims },
          providerSession: typeof idClaims.sid === 'string' ? idClaims.sid : '',
          authenticatedAt,
          tokens: toTokens(response),
        };
      }),

    /**
     * What the provider says about the person now. Throws `ProviderSessionEnded` if it has ended the session, or if it cannot be
     * asked without a new sign-in; other errors mean that it could not be reached.
     */
    async refresh(tokens: ProviderTokens, subject: string): Promise<{ person: Person; tokens: ProviderTokens }> {
      const client = await getClient();
      const { api, config } = client;
      try {
        const response =
          tokens.refreshToken === undefined ? undefined : await api.refreshTokenGrant(config, tokens.refreshToken);
        const current = response ? { ...tokens, ...toTokens(response) } : tokens;
        const idClaims = response?.claims();
        if (idClaims && idClaims.sub !== subject) throw new ProviderSessionEnded('another subject');
        const claims = merge(idClaims, await readUserInfo(client, current.accessToken, subject));
        if (Object.keys(claims).length === 0) throw new ProviderSessionEnded('no claims without a new sign-in');
        return { person: { issuer, subject, claims }, tokens: current };
      } catch (error) {
        if (isUnreachable(error)) throw error;
        throw new ProviderSessionEnded('rejected', { cause: error });
      }
    },

    /** Where the person signs out at the provider; undefined if it has no such page. */
    async findSignOutUrl(idToken: string | undefined, returnUrl: string): Promise<string | undefined> {
      try {
        const { api, config } = await getClient();
        if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
        return api.buildEndSessionUrl(config, {
          post_logout_redirect_uri: returnUrl,
          ...(idToken !== undefined && { id_token_hint: idToken }),
        }).href;
      } catch (error) {
        log.warn({ err: error, issuer }, 'failed to reach the identity provider to sign out');
        return undefined;
      }
    },

    /** The session or the person that a logout token ends. Undefined if the token is not valid. */
    async verifyLogoutToken(token: string): Promise<Logout | undefined> {
      const { verifyLogoutToken } = await getClient();
      return verifyLogoutToken(token);
    },
  };
}

const toTokens = (response: { access_token: string; refresh_token?: string; id_token?: string }): ProviderTokens => ({
  accessToken: response.access_token,
  ...(response.refresh_token !== undefined && { refreshToken: response.refresh_token }),
  ...(response.id_token !== undefined && { idToken: response.id_token }),
});

/** Only the provider knows whether it asked the person. A time in the future must not stay fresh. */
const readAuthenticationTime = ({ auth_time }: Claims, now: number): number =>
  typeof auth_time === 'number' ? Math.min(auth_time * SECOND_MS, now) : 0;

/** The claims about the address are taken from one source: `email_verified` is about the address beside it. */
function merge(idClaims: Claims | undefined, { email, email_verified, ...others }: Claims): Claims {
  return { ...idClaims, ...others, ...(email !== undefined && { email, email_verified }) };
}

/** Codes of responses that no provider has sent: of a proxy or a gateway, or none at all. */
const UNREACHABLE_CODES = ['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_PARSE_ERROR', 'OAUTH_RESPONSE_IS_NOT_JSON'];
const TEMPORARY_STATUSES = [408, 425, 429];

/** No answer of the provider. Everything else is one: it rejects the tokens, or sends what cannot be accepted. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof ProviderSessionEnded) return false;
  for (let reason = error; reason !== undefined && reason !== null; reason = (reason as Error).cause) {
    const { code, status } = reason as { code?: unknown; status?: unknown };
    if (typeof status === 'number' && status >= 300)
      return status < 400 || status >= 500 || TEMPORARY_STATUSES.includes(status);
    if (typeof code === 'string' && UNREACHABLE_CODES.includes(code)) return true;
  }
  const { code } = error as { code?: unknown };
  return typeof code !== 'string' || !code.startsWith('OAUTH_');
}

function findProblem(error: unknown): SignInProblem {
  const { code, error: reason } = error as { code?: string; error?: string };
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR' && reason === 'access_denied') return 'denied';
  return code?.startsWith('OAUTH_') && code !== 'OAUTH_TIMEOUT' && code !== 'OAUTH_RESPONSE_IS_NOT_CONFORM'
    ? 'invalid-response'
    : 'provider-unavailable';
}
