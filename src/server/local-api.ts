import { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { KEY_ROLES } from '../kernel/access/roles.ts';
import { AppError } from '../kernel/errors.ts';
import type { Actor } from '../management/audit/activity.ts';
import { createApp } from '../platform/http/app.ts';
import type { Identity } from '../platform/http/guard.ts';
import { createAttemptLimit } from '../platform/http/limits/attempt-limit.ts';
import { toStoreError } from '../platform/state/failures.ts';
import type { State } from '../platform/state/state.ts';
import type { Domains } from './domains.ts';
import { createManagement } from './interfaces.ts';
import { mountInterface } from './mount.ts';
import type { Config } from './settings/config.ts';

interface Options {
  config: Pick<Config, 'dataDirectory'>;
  state: State;
  domains: Domains;
  log: Logger;
  /** The author of changes in the audit log. */
  actor: Pick<Actor, 'id' | 'details'>;
}

/** Sends a request to the API; `path` begins with `/v1`. */
export type SendRequest = (path: string, request: RequestInit) => Promise<Response>;

interface LocalApi {
  send: SendRequest;
  close(): Promise<void>;
}

/**
 * The routes of `/v1` on an open store, without a port: a command passes the same validation as a request over the
 * network. No credentials are checked, because a process that can open the store can change everything in it.
 */
export function openLocalApi({ config, state, domains, log, actor }: Options): LocalApi {
  const { clock } = state;
  const app = createApp({ log, access() {}, metrics: { request() {} }, explain: toStoreError });
  const shared = { rate: undefined, attempts: createAttemptLimit(clock), clock, clientAddress: () => '127.0.0.1' };
  const management = createManagement(
    {
      config: { ...config, basePath: '' },
      state,
      clock,
      domains,
      findIdleStatus: rejectLocally,
      listSlowQueries: rejectLocally,
      findSqlAccess: rejectLocally,
      cancelStatement: rejectLocally,
      listUsageWarnings: domains.usageWarnings.list,
      rateCounter: undefined,
    },
    shared,
  );
  const identify = (organizationId: string): Identity => ({
    organizationId,
    revisions: { costs: 0, dashboards: 0 },
    credentialId: actor.id,
    credentialName: actor.details,
    suffix: actor.id,
    roles: KEY_ROLES,
    allowsAddress: undefined,
    isLocal: true,
  });
  mountInterface(app, domains, {
    ...management,
    guard: { ...management.guard, authenticate: async (organizationId = '') => identify(organizationId) },
  });
  return {
    async send(path, { method = 'GET', headers, body }) {
      const [, organizationId = ''] = /^\/v1\/organizations\/([^/?]+)/.exec(path) ?? [];
      const { statusCode, stream } = await app.inject({
        method: method as 'GET',
        url: path,
        headers: { ...Object.fromEntries(new Headers(headers)), authorization: organizationId.toLowerCase() },
        payload: (body ?? undefined) as string | Buffer | undefined,
        payloadAsStream: true,
      });
      return new Response(Readable.toWeb(stream()) as ReadableStream, { status: statusCode });
    },
    close: async () => app.close(),
  };
}

function rejectLocally(): never {
  throw new AppError(
    'unavailable',
    'Only the running server knows its queries; use --url, PILOTHOUSE_URL or a profile',
  );
}
