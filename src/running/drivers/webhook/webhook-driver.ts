import { AppError } from '../../../kernel/errors.ts';
import { deriveUuid } from '../../../kernel/ids.ts';
import { createLargeCache } from '../../../kernel/memo.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import type { DrivenService, Driver, Observed } from '../../../management/services/driver.ts';
import { resolveAllowed } from '../../../platform/webhooks/allowed-lookup.ts';
import {
  createSignedRequests,
  formatRequestError,
  requireSuccess,
  type SignedRequest,
  type SignedResponse,
} from '../../../platform/webhooks/signed-requests.ts';
import type { Webhook } from '../../../platform/webhooks/webhook.ts';
import { type IgnoredQueries, listUse } from '../database-use.ts';
import { findUpstream } from '../upstream.ts';
import { parseStatus, type WebhookStatus } from './status.ts';

interface Options {
  clock: Clock;
  /** Allows receivers and databases on loopback and private addresses. */
  allowPrivate: boolean;
  /** Queries at the databases that do not keep a service from idling. */
  ignored?: IgnoredQueries | undefined;
}

const MAX_STATUS_BYTES = 64 * 1024;
const MAX_SERVICES = 100_000;
const NOT_FOUND = 404;

/**
 * Sends a receiver the desired state of a service, and reads its observed state. The receiver may get the same generation
 * more than once, and must ignore a generation that is older than the one it has.
 */
export function createWebhookDriver({
  clock,
  allowPrivate,
  ignored = { ignoredAgents: [], ignoredStatements: [] },
}: Options): Driver {
  const requests = createSignedRequests({ clock, allowPrivate, keepAlive: true });
  /** Services whose deletion was delivered. */
  const deleted = createLargeCache<string, true>(MAX_SERVICES);

  async function call(webhook: Webhook, request: SignedRequest): Promise<SignedResponse> {
    try {
      const response = await requests.send(webhook, { ...request, maxResponseBytes: MAX_STATUS_BYTES });
      const isUnknown = request.method === 'GET' && response.status === NOT_FOUND;
      if (!isUnknown) requireSuccess(webhook, response);
      return response;
    } catch (cause) {
      throw new AppError('unavailable', `The webhook failed: ${formatRequestError(cause)}`, { cause });
    }
  }

  /** The proxy connects to the address that was checked here, whatever the name resolves to later. */
  async function checkUpstream(observed: Observed, signal: AbortSignal): Promise<Observed> {
    const { upstream } = observed;
    if (!upstream) return observed;
    try {
      return {
        ...observed,
        upstream: { ...upstream, host: await resolveAllowed(upstream.host, allowPrivate, signal) },
      };
    } catch (cause) {
      const reason = `The address of the database cannot be used: ${formatRequestError(cause)}`;
      throw new AppError('unavailable', reason, { cause });
    }
  }

  /** Undefined if the receiver does not know the service. */
  async function readStatus(service: DrivenService, signal: AbortSignal): Promise<Observed | undefined> {
    const query = { service: service.id };
    const { status, body } = await call(getWebhook(service), { method: 'GET', query, signal });
    return status === NOT_FOUND ? undefined : checkUpstream(toObserved(parseStatus(body, allowPrivate)), signal);
  }

  return {
    isInterruptedByResize: false,
    canIdle: () => true,

    async observe(service, signal) {
      const observed = await readStatus(service, signal);
      if (observed) return observed;
      return deleted.has(service.id)
        ? { state: 'deleted' }
        : { state: 'provisioning', reason: 'The webhook receiver does not know the service yet' };
    },

    async listUse(service, timeoutMs, signal) {
      const { upstream, replicas = 1, shards = 1 } = (await readStatus(service, signal)) ?? {};
      if (!upstream) throw new AppError('conflict', 'the webhook receiver gives no url of the database');
      return listUse({ upstream, replicas: replicas * shards, timeoutMs, ignored, ownUsers: [] }, signal);
    },

    async converge(service, desired, signal) {
      const { id, name, organizationId } = service;
      const { generation, state, replicas, memoryGb } = desired;
      const deliveryId = deriveUuid(id, 'generation', String(generation));
      const body = JSON.stringify({
        service: { id, name, organizationId },
        desired: { generation, state, replicas, memoryGb },
        deliveryId,
      });
      await call(getWebhook(service), { method: 'POST', body, deliveryId, signal });
      if (state === 'deleted') deleted.set(id, true);
      else deleted.delete(id);
    },

    async close() {
      requests.close();
    },
  };
}

function getWebhook({ webhook }: DrivenService): Webhook {
  if (!webhook) throw new AppError('conflict', 'The service has no webhook; declare it in the fleet file');
  return webhook;
}

function toObserved(status: WebhookStatus): Observed {
  const { state, generation, replicas, memoryGb, shards, reason, version, load } = status;
  const upstream = state === 'running' || state === 'resizing' ? findUpstream(status) : undefined;
  return {
    state,
    generation,
    ...(reason !== undefined && { reason }),
    ...(replicas !== undefined && { replicas }),
    ...(memoryGb !== undefined && { memoryGb }),
    ...(shards !== undefined && { shards }),
    ...(version !== undefined && { version }),
    ...(load && { load }),
    ...(upstream && { upstream }),
    evidence: { generation },
  };
}
