import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Configuration, Provider } from 'oidc-provider';
import { afterAll, beforeAll } from 'vitest';
import type { Json } from './client.ts';
import { findFreePort } from './postgres.ts';
import { START_LIMIT_MS } from './server.ts';

const CLIENT = { id: 'pilothouse', secret: 'the-secret-of-the-client-at-the-provider' };

/** A certified OpenID provider with its own sign-in and consent pages, which accept any password. */
interface TestProvider {
  issuer: string;
  /** The settings of a server that uses it, with its port. */
  args: string[];
  serverUrl: string;
  /** The claims of a person, by login. */
  accounts: Map<string, Json>;
  /** Requests get 503 while it is true. */
  isDown: boolean;
  close(): Promise<void>;
}

async function startProvider(extra: Configuration = {}): Promise<TestProvider> {
  const serverUrl = `http://127.0.0.1:${await findFreePort()}`;
  const accounts = new Map<string, Json>();
  const http: Server = createServer((request, response) => {
    if (!provider.isDown) return void handle(request, response);
    response.writeHead(503).end();
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const oidc = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [`${serverUrl}/console/sign-in/oidc/callback`],
        post_logout_redirect_uris: [`${serverUrl}/sign-in`],
        backchannel_logout_uri: `${serverUrl}/console/sign-out/oidc/back-channel`,
        backchannel_logout_session_required: true,
      },
    ],
    scopes: ['openid', 'profile', 'email', 'groups', 'offline_access'],
    claims: { profile: ['name'], email: ['email', 'email_verified'], groups: ['groups'] },
    features: { backchannelLogout: { enabled: true } },
    issueRefreshToken: () => true,
    cookies: { keys: ['of the test provider'] },
    findAccount: (_context, id) =>
      accounts.has(id) ? { accountId: id, claims: () => ({ sub: id, ...accounts.get(id) }) } : undefined,
    ...extra,
  });
  const handle = oidc.callback();
  const { port } = new URL(serverUrl);
  const provider: TestProvider = {
    issuer,
    serverUrl,
    accounts,
    isDown: false,
    args: [
      ...['--port', port, '--public-url', serverUrl, '--oidc-issuer', issuer],
      ...['--oidc-client-id', CLIENT.id, '--oidc-client-secret', CLIENT.secret],
      ...['--oidc-scopes', 'openid profile email groups', '--oidc-refresh', '10s'],
    ],
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return provider;
}

/** A provider for the tests of the surrounding `describe`. */
export function useProvider(): TestProvider {
  const provider = {} as TestProvider;
  beforeAll(async () => {
    const started = await startProvider();
    Object.defineProperties(provider, Object.getOwnPropertyDescriptors(started));
    Object.defineProperty(provider, 'isDown', {
      get: () => started.isDown,
      set: (value) => {
        started.isDown = value;
      },
    });
  }, START_LIMIT_MS);
  afterAll(() => provider.close());
  return provider;
}

/** A browser without scripts: it keeps cookies by host and follows no redirect by itself. */
export function createBrowser() {
  const jars = new Map<string, Map<string, string>>();

  async function send(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url);
    const jar = jars.get(host) ?? new Map<string, string>();
    jars.set(host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0\b/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  return {
    send,

    cookies: (url: string): Map<string, string> => jars.get(new URL(url).host) ?? new Map(),

    /** Follows redirects and fills in the pages of the provider until `isEnd` accepts an address. Returns that address. */
    async visit(start: string, login: string, isEnd: (url: string) => boolean): Promise<string> {
      let response = await send(start);
      let url = start;
      for (let step = 0; step < 30; step++) {
        const location = response.headers.get('location');
        if (location !== null) {
          url = new URL(location, url).href;
          if (isEnd(url)) return url;
          response = await send(url);
          continue;
        }
        const page = await response.text();
        const [, action = '', prompt = ''] = /action="([^"]+)"[\s\S]*?name="prompt" value="(\w+)"/.exec(page) ?? [];
        if (action === '') throw new Error(`${url} (${response.status}) has no form: ${page.slice(0, 500)}`);
        response = await send(new URL(action, url).href, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({ prompt, login, password: 'any' }),
        });
      }
      throw new Error('too many steps');
    },
  };
}
