import { Readable } from 'node:stream';
import type { Logger } from 'pino';
import type { Actor } from './audit/activity.ts';
import type { Domains } from './domains.ts';
import { createApp } from './http/app.ts';
import { createAttemptLimit } from './http/attempt-limit.ts';
import type { Identity } from './http/guard.ts';
import type { Clock } from './kernel/clock.ts';
import { AppError } from './kernel/errors.ts';
import { KEY_ROLES } from './kernel/roles.ts';
import { createManagement, mountInterface } from './mount.ts';
import { toStoreError } from './state/failures.ts';
import type { State } from './state/state.ts';

interface Options {
  state: State;
  domains: Domains;
  clock: Clock;
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
export function openLocalApi({ state, domains, clock, log, actor }: Options): LocalApi {
  const app = createApp({ log, access() {}, metrics: { request() {} }, explain: toStoreError });
  const shared = { rate: undefined, attempts: createAttemptLimit(clock), clock, clientAddress: () => '127.0.0.1' };
  const management = createManagement(
    {
      config: { basePath: '' },
      state,
      clock,
      domains,
      findIdleStatus: rejectIdleStatus,
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
  const { session, ...guard } = management.guard;
  mountInterface(app, domains, {
    ...management,
    guard: { ...guard, authenticate: (organizationId = '') => identify(organizationId) },
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

function rejectIdleStatus(): never {
  throw new AppError(
    'unavailable',
    'Only the running server knows its queries; use --url, PILOTHOUSE_URL or a profile',
  );
}
