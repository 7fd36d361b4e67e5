import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../../kernel/time/clock.ts';
import type { App } from '../requests/validation.ts';
import { METRICS_TYPE } from './metrics.ts';

interface Options {
  renderMetrics(): Promise<string>;
  /** Throws unless the request may read the metrics. */
  authorizeMetrics(request: FastifyRequest): Promise<void>;
  clock: Clock;
  isDraining(): boolean;
  /** Throws the reason if requests cannot be served. */
  checkReady(): Promise<void>;
  /** States that need an operator while requests are served. */
  listWarnings?(): Promise<readonly object[]>;
}

/** A check is a durable write, so all probes within a second share one. */
const CACHED_MS = 1000;

export function healthRoutes({
  renderMetrics,
  authorizeMetrics,
  clock,
  isDraining,
  checkReady,
  listWarnings = async () => [],
}: Options): (app: App) => void {
  /** A check that failed has a reason. */
  type Outcome = { reason: string } | { warnings: readonly object[] };
  const check = async (): Promise<Outcome> => {
    try {
      await checkReady();
      return { warnings: await listWarnings() };
    } catch (error) {
      return { reason: (error as Error).message };
    }
  };
  let lastCheck: { at: number; outcome: Promise<Outcome> } | undefined;
  const checkCached = () => {
    const now = clock.monotonicMs();
    if (!lastCheck || now - lastCheck.at >= CACHED_MS) lastCheck = { at: now, outcome: check() };
    return lastCheck.outcome;
  };

  return (app) => {
    app.get('/healthz', { config: { operation: 'healthz' }, schema: { hide: true } }, async () => ({ status: 'ok' }));

    app.get('/readyz', { config: { operation: 'readyz' }, schema: { hide: true } }, async (_request, reply) => {
      const outcome = isDraining() ? { reason: 'The server is stopping' } : await checkCached();
      if ('reason' in outcome)
        return reply.code(503).header('retry-after', 1).send({ status: 'not ready', message: outcome.reason });
      const { warnings } = outcome;
      return warnings.length > 0 ? { status: 'ready', warnings } : { status: 'ready' };
    });

    app.get('/metrics', { config: { operation: 'metrics' }, schema: { hide: true } }, async (request, reply) => {
      await authorizeMetrics(request);
      return reply.type(METRICS_TYPE).send(await renderMetrics());
    });
  };
}
