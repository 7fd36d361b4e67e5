import { readLimited } from '../../kernel/read-limited.ts';
import { limitTime } from '../../kernel/tasks/time-limit.ts';
import { HOUR_MS, SECOND_MS } from '../../kernel/time/clock.ts';

type Api = typeof import('openid-client');

export interface ProviderSettings {
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
}

export interface ProviderClient {
  api: Api;
  config: import('openid-client').Configuration;
  verifyLogoutToken(token: string): Promise<Logout | undefined>;
}

/** What a logout token says. It names a session at the provider, a person, or both. */
export interface Logout {
  /** A token works once. */
  tokenId: string;
  /** From then on, the token is rejected for its age. */
  expiresAt: number;
  providerSession?: string;
  subject?: string;
}

const TIMEOUT_SECONDS = 5;
const CLOCK_TOLERANCE_SECONDS = 60;
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** The provider may have moved an endpoint. Its keys are read again whenever a token has an unknown one. */
const DISCOVERY_MS = HOUR_MS;
const RETRY_MS = 10 * SECOND_MS;
const MAX_LOGOUT_TOKEN_AGE_SECONDS = 300;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Reads the configuration of the provider when it is first needed; while the provider is down, the last one is used. */
export function createProviderClient(settings: ProviderSettings): () => Promise<ProviderClient> {
  let current: ProviderClient | undefined;
  let isCurrentUntil = 0;
  let reading: Promise<ProviderClient> | undefined;

  async function read(): Promise<ProviderClient> {
    try {
      current = await connect(settings);
      isCurrentUntil = performance.now() + DISCOVERY_MS;
      return current;
    } catch (error) {
      if (!current) throw error;
      isCurrentUntil = performance.now() + RETRY_MS;
      return current;
    } finally {
      reading = undefined;
    }
  }

  return async () => {
    if (current && performance.now() < isCurrentUntil) return current;
    reading ??= read();
    return reading;
  };
}

async function connect({ issuer, clientId, clientSecret }: ProviderSettings): Promise<ProviderClient> {
  // Most servers have no identity provider.
  const [api, { createRemoteJWKSet, jwtVerify, customFetch }] = await Promise.all([
    import('openid-client'),
    import('jose'),
  ]);
  const url = new URL(issuer);
  const config = await api.discovery(
    url,
    clientId,
    { client_secret: clientSecret, [api.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
    clientSecret === undefined ? api.None() : api.ClientSecretBasic(clientSecret),
    {
      timeout: TIMEOUT_SECONDS,
      [api.customFetch]: fetchLimited,
      // `http:` is accepted on this machine only.
      ...(url.protocol === 'http:' && { execute: [api.allowInsecureRequests] }),
    },
  );
  config.timeout = TIMEOUT_SECONDS;
  config[api.customFetch] = fetchLimited;
  // The signature of ID tokens is verified, although they come from the provider directly.
  api.enableNonRepudiationChecks(config);
  const metadata = config.serverMetadata();
  if (clientSecret !== undefined && !supportsBasic(metadata.token_endpoint_auth_methods_supported))
    return connectByPost();
  return { api, config, verifyLogoutToken };

  /** The same configuration with the secret in the body, for providers that do not accept it in the header. */
  function connectByPost(): ProviderClient {
    const posting = new api.Configuration(
      metadata,
      clientId,
      { [api.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      api.ClientSecretPost(clientSecret),
    );
    posting.timeout = TIMEOUT_SECONDS;
    posting[api.customFetch] = fetchLimited;
    api.enableNonRepudiationChecks(posting);
    if (url.protocol === 'http:') api.allowInsecureRequests(posting);
    return { api, config: posting, verifyLogoutToken };
  }

  async function verifyLogoutToken(token: string): Promise<Logout | undefined> {
    const keys = createRemoteJWKSet(new URL(metadata.jwks_uri ?? ''), {
      timeoutDuration: TIMEOUT_SECONDS * SECOND_MS,
      [customFetch]: fetchLimited,
    });
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer: metadata.issuer,
        audience: clientId,
        maxTokenAge: MAX_LOGOUT_TOKEN_AGE_SECONDS,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        requiredClaims: ['iat', 'jti', 'events'],
      });
      const events = payload.events as Record<string, unknown> | null;
      // With a nonce it would be an ID token, which any page of the client may have.
      const isLogout = typeof events === 'object' && events !== null && LOGOUT_EVENT in events && !('nonce' in payload);
      if (!isLogout) return undefined;
      const { sid, sub, iat = 0, jti = '' } = payload;
      return {
        tokenId: jti,
        expiresAt: (iat + MAX_LOGOUT_TOKEN_AGE_SECONDS + 2 * CLOCK_TOLERANCE_SECONDS) * SECOND_MS,
        ...(typeof sid === 'string' && sid !== '' && { providerSession: sid }),
        ...(sub !== undefined && { subject: sub }),
      };
    } catch {
      return undefined;
    }
  }
}

/** The default of the specification is Basic. */
const supportsBasic = (methods: readonly string[] | undefined): boolean =>
  methods === undefined || methods.includes('client_secret_basic');

/** As `fetch`, for small responses that arrive in time. */
async function fetchLimited(url: string, options: RequestInit): Promise<Response> {
  const signal = limitTime(TIMEOUT_SECONDS * SECOND_MS, options.signal ?? undefined);
  const response = await fetch(url, { ...options, signal });
  const sender = new URL(url).host;
  const { status, statusText, headers } = response;
  const content = response.body
    ? await readLimited(response.body, { maxBytes: MAX_RESPONSE_BYTES, signal, sender })
    : Buffer.alloc(0);
  return new Response(content.length === 0 ? null : content, { status, statusText, headers });
}
