import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme, fleet } from '../support/fleet.ts';
import { findFreePort } from '../support/postgres.ts';
import { onEachStore, START_LIMIT_MS, startServer, type TestServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';

const CALLBACK = '/console/sign-in/oidc/callback';

/** A provider that signs what a test asks for: a certified one would never send these tokens. */
async function startForger() {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const forger = {
    issuer: '',
    claims: {} as Json,
    token: '',
    metadata: {} as Json,
    /** Claims of the userinfo endpoint, or the status of its response. */
    userInfo: {} as Json | number,
  };
  const sign = async (claims: Json) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(privateKey);
  const http = createServer(async (request, response) => {
    const path = request.url?.split('?')[0];
    const send = (body: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    if (path === '/.well-known/openid-configuration')
      return send({
        issuer: forger.issuer,
        authorization_endpoint: `${forger.issuer}/auth`,
        token_endpoint: `${forger.issuer}/token`,
        jwks_uri: `${forger.issuer}/jwks`,
        userinfo_endpoint: `${forger.issuer}/userinfo`,
        response_types_supported: ['code'],
        id_token_signing_alg_values_supported: ['RS256'],
        ...forger.metadata,
      });
    if (path === '/jwks') return send({ keys: [jwk] });
    if (path === '/token')
      return send({
        access_token: 'access',
        token_type: 'bearer',
        refresh_token: 'refresh',
        id_token: forger.token || (await sign(forger.claims)),
      });
    if (path === '/userinfo')
      return typeof forger.userInfo === 'number'
        ? response.writeHead(forger.userInfo).end()
        : send({ sub: forger.claims.sub, ...forger.userInfo });
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  forger.issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return { forger, sign, close: () => new Promise((resolve) => http.close(resolve)) };
}

onEachStore('tokens of an identity provider', (store) => {
  let provider: Awaited<ReturnType<typeof startForger>>;
  let server: TestServer;
  beforeAll(async () => {
    provider = await startForger();
    const port = String(await findFreePort());
    const memberRules = [
      { claim: 'groups', value: 'ops', roles: ['developer'] },
      { claim: 'email', value: '*@alpha.example', roles: ['developer'] },
    ];
    server = await startServer(store, {
      fleet: {
        organizations: fleet.organizations.map((one: Json) => (one.id === acme.id ? { ...one, memberRules } : one)),
      },
      args: [
        ...['--port', port, '--public-url', `http://127.0.0.1:${port}`, '--oidc-issuer', provider.forger.issuer],
        ...['--oidc-client-id', 'pilothouse', '--oidc-client-secret', 'secret', '--oidc-refresh', '10s'],
      ],
    });
  }, START_LIMIT_MS);
  afterAll(async () => {
    await server.remove();
    await provider.close();
  });

  beforeEach(() => {
    provider.forger.userInfo = {};
  });

  /** The problem of a sign-in with these claims; null if it succeeds. */
  const signIn = async (change: (claims: Json) => Json, toToken?: (claims: Json) => Promise<string>) =>
    (await openSession(change, toToken)).problem;

  async function openSession(change: (claims: Json) => Json, toToken?: (claims: Json) => Promise<string>) {
    const started = await fetch(`${server.url}/console/sign-in/oidc`, { redirect: 'manual' });
    const [cookie = ''] = started.headers.getSetCookie()[0]?.split(';') ?? [];
    const query = new URL(started.headers.get('location') ?? '').searchParams;
    const now = Math.floor(Date.now() / 1000);
    const valid = {
      iss: provider.forger.issuer,
      sub: 'ada',
      aud: 'pilothouse',
      iat: now,
      exp: now + 300,
      nonce: query.get('nonce'),
      groups: ['ops'],
    };
    provider.forger.claims = change(valid);
    provider.forger.token = toToken ? await toToken(provider.forger.claims) : '';
    const callback = `${server.url}${CALLBACK}?code=any&state=${query.get('state')}`;
    const finished = await fetch(callback, { redirect: 'manual', headers: { cookie } });
    expect(finished.status).toBe(303);
    const [session] = finished.headers
      .getSetCookie()
      .filter((line) => /^pilothouse_session_[0-9a-f]{32}=[\w-]{43};/.test(line));
    const problem = new URL(finished.headers.get('location') ?? '', server.url).searchParams.get('problem');
    expect(session !== undefined).toBe(problem === null);
    return { problem, cookie: session?.split(';')[0] ?? '' };
  }

  const getStatus = async (cookie: string) =>
    (await fetch(`${server.url}/console/session`, { headers: { cookie } })).status;
  /** The provider is asked again with the next request. */
  const expire = () => runSql(server, 'UPDATE console_sessions SET refreshed_at = 1');
  const seconds = (offset: number) => Math.floor(Date.now() / 1000) + offset;

  it('accepts a valid token, and clocks that differ by less than a minute', async () => {
    expect(await signIn((claims) => claims)).toBeNull();
    expect(await signIn((claims) => ({ ...claims, iat: seconds(40), exp: seconds(340) }))).toBeNull();
    expect(await signIn((claims) => ({ ...claims, exp: seconds(-30) }))).toBeNull();
  });

  it.each<[string, (claims: Json) => Json]>([
    ['another audience', (claims) => ({ ...claims, aud: 'another client' })],
    ['another issuer', (claims) => ({ ...claims, iss: 'https://other.example' })],
    ['another nonce', (claims) => ({ ...claims, nonce: 'of another sign-in' })],
    ['no nonce', ({ nonce: _, ...claims }) => claims],
    ['no subject', ({ sub: _, ...claims }) => claims],
    ['an expired token', (claims) => ({ ...claims, exp: seconds(-300) })],
    ['a token from the future', (claims) => ({ ...claims, nbf: seconds(300) })],
    [
      'several audiences without an authorized party',
      (claims) => ({ ...claims, aud: ['pilothouse', 'other'], azp: 'other' }),
    ],
  ])('rejects %s', async (_, change) => {
    expect(await signIn(change)).toBe('invalid-response');
  });

  it('rejects a token that is not signed, or by another key', async () => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const unsigned = async (claims: Json) => `${encode({ alg: 'none' })}.${encode(claims)}.`;
    expect(await signIn((claims) => claims, unsigned)).toBe('invalid-response');
    const other = await generateKeyPair('RS256');
    const forged = (claims: Json) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(other.privateKey);
    expect(await signIn((claims) => claims, forged)).toBe('invalid-response');
  });

  it('a logout token must be signed by the provider, for this client, recent and without a nonce', async () => {
    expect(await signIn((claims) => claims)).toBeNull();
    const event = { 'http://schemas.openid.net/event/backchannel-logout': {} };
    const valid = () => ({
      iss: provider.forger.issuer,
      aud: 'pilothouse',
      sub: 'ada',
      iat: seconds(0),
      exp: seconds(60),
      jti: randomUUID(),
      events: event,
    });
    const logout = async (token: string) =>
      (
        await server.call({
          method: 'POST',
          path: '/console/sign-out/oidc/back-channel',
          text: new URLSearchParams({ logout_token: token }).toString(),
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        })
      ).status;
    const other = await generateKeyPair('RS256');
    const forged = await new SignJWT(valid()).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(other.privateKey);
    expect(await logout(forged)).toBe(400);
    for (const change of [
      { aud: 'other' },
      { iss: 'https://other.example' },
      { iat: seconds(-3600), exp: seconds(3600) },
      { exp: seconds(-300) },
      { nonce: 'x' },
      { events: {} },
      { events: 'x' },
    ])
      expect(await logout(await provider.sign({ ...valid(), ...change })), JSON.stringify(change)).toBe(400);
    const token = await provider.sign(valid());
    expect(await logout(token)).toBe(200);
    // A token that was recorded must not end a later session.
    const { cookie } = await openSession((claims) => ({ ...claims, sid: 'again' }));
    expect(await logout(token)).toBe(400);
    expect(await getStatus(cookie)).toBe(200);
    expect(await logout(await provider.sign({ ...valid(), sid: 'again' }))).toBe(200);
    expect(await getStatus(cookie)).toBe(401);
  });

  it('an address counts only if the source that names it says that it is verified', async () => {
    const named = { email: 'eve@alpha.example' };
    const verified = { email_verified: true };
    const without = ({ groups: _, ...claims }: Json) => claims;
    const attempt = (idClaims: Json, userInfo: Json) => {
      provider.forger.userInfo = userInfo;
      return signIn((claims) => ({ ...without(claims), ...idClaims }));
    };
    for (const other of [{}, { email: 'eve@elsewhere.example' }]) {
      expect(await attempt({ ...other, ...verified }, named)).toBe('not-a-member');
      expect(await attempt(named, { ...other, ...verified })).toBe('not-a-member');
    }
    expect(await attempt({ ...named, ...verified }, {})).toBeNull();
    expect(await attempt({}, { ...named, ...verified })).toBeNull();
    expect(await attempt({ email: 'eve@elsewhere.example' }, { ...named, ...verified })).toBeNull();
  });

  it('that the provider rejects, or that are not valid, end a session; without an answer it goes on', async () => {
    const other = await generateKeyPair('RS256');
    const sign = (claims: Json, key: CryptoKey) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(key);
    const open = async () => {
      provider.forger.userInfo = {};
      const { cookie, problem } = await openSession(({ nonce, ...claims }) => ({ ...claims, nonce }));
      expect(problem).toBeNull();
      delete provider.forger.claims.nonce;
      await expire();
      return cookie;
    };
    const cases: [string, number, { userInfo?: number; claims?: Json; key?: CryptoKey }][] = [
      ['nothing has changed', 200, {}],
      ['401 of userinfo, without WWW-Authenticate', 401, { userInfo: 401 }],
      ['403 of userinfo', 401, { userInfo: 403 }],
      ['503 of userinfo', 200, { userInfo: 503 }],
      ['429 of userinfo', 200, { userInfo: 429 }],
      ['another audience', 401, { claims: { aud: 'another client' } }],
      ['another issuer', 401, { claims: { iss: 'https://other.example' } }],
      ['another person', 401, { claims: { sub: 'eve' } }],
      ['a bad signature', 401, { key: other.privateKey }],
    ];
    for (const [name, status, { userInfo = {}, claims, key }] of cases) {
      const cookie = await open();
      const { forger } = provider;
      Object.assign(forger.claims, claims);
      Object.assign(forger, { userInfo, token: key ? await sign(forger.claims, key) : '' });
      expect(await getStatus(cookie), name).toBe(status);
    }
  });
});
