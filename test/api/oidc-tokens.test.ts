import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme, fleet } from '../support/fleet.ts';
import { findFreePort } from '../support/postgres.ts';
import { START_LIMIT_MS, startServer, type TestServer } from '../support/server.ts';

const CALLBACK = '/console/sign-in/oidc/callback';

/** A provider that signs what a test asks for: a certified one would never send these tokens. */
async function startForger() {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const forger = { issuer: '', claims: {} as Json, alg: 'RS256', token: '', metadata: {} as Json };
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
        response_types_supported: ['code'],
        id_token_signing_alg_values_supported: ['RS256'],
        ...forger.metadata,
      });
    if (path === '/jwks') return send({ keys: [jwk] });
    if (path === '/token')
      return send({
        access_token: 'access',
        token_type: 'bearer',
        id_token: forger.token || (await sign(forger.claims)),
      });
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  forger.issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return { forger, sign, close: () => new Promise((resolve) => http.close(resolve)) };
}

describe('tokens of an identity provider', () => {
  let provider: Awaited<ReturnType<typeof startForger>>;
  let server: TestServer;
  beforeAll(async () => {
    provider = await startForger();
    const port = String(await findFreePort());
    const memberRules = [{ claim: 'groups', value: 'ops', roles: ['developer'] }];
    server = await startServer('libsql', {
      fleet: {
        organizations: fleet.organizations.map((one: Json) => (one.id === acme.id ? { ...one, memberRules } : one)),
      },
      args: [
        ...['--port', port, '--public-url', `http://127.0.0.1:${port}`, '--oidc-issuer', provider.forger.issuer],
        ...['--oidc-client-id', 'pilothouse', '--oidc-client-secret', 'secret'],
      ],
    });
  }, START_LIMIT_MS);
  afterAll(async () => {
    await server.remove();
    await provider.close();
  });

  /** The problem of a sign-in with these claims; null if it succeeds. */
  async function signIn(change: (claims: Json) => Json, toToken?: (claims: Json) => Promise<string>) {
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
    const hasSession = finished.headers
      .getSetCookie()
      .some((line) => /^pilothouse_session_[0-9a-f]{32}=[\w-]{43};/.test(line));
    const problem = new URL(finished.headers.get('location') ?? '', server.url).searchParams.get('problem');
    expect(hasSession).toBe(problem === null);
    return problem;
  }
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
      jti: 'one',
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
    expect(await logout(await provider.sign(valid()))).toBe(200);
  });
});
