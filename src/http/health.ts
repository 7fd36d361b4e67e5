import type { FastifyRequest } from 'fastify';
import type { Clock } from '../kernel/clock.ts';
import type { Metrics } from './metrics.ts';
import type { App } from './validation.ts';

interface Options {
  metrics: Metrics;
  /** Throws unless the request may read the metrics. */
  authorizeMetrics(request: FastifyRequest): void;
  clock: Clock;
  isDraining(): boolean;
  /** Throws the reason if requests cannot be served. */
  checkReady(): Promise<void>;
}

/** A check is a durable write, so all probes within a second share one. */
const CACHED_MS = 1000;

export function healthRoutes({
  metrics,
  authorizeMetrics,
  clock,
  isDraining,
  checkReady,
}: Options): (app: App) => void {
  let lastCheck = { at: 0, outcome: Promise.resolve<string | undefined>(undefined) };
  const checkCached = () => {
    if (Math.abs(clock.now() - lastCheck.at) >= CACHED_MS) {
      lastCheck = {
        at: clock.now(),
        outcome: checkReady().then(
          () => undefined,
          (error: Error) => error.message,
        ),
      };
    }
    return lastCheck.outcome;
  };

  return (app) => {
    app.get('/healthz', { config: { operation: 'healthz' }, schema: { hide: true } }, async () => ({ status: 'ok' }));

    app.get('/readyz', { config: { operation: 'readyz' }, schema: { hide: true } }, async (_request, reply) => {
      const reason = isDraining() ? 'The server is stopping' : await checkCached();
      if (reason === undefined) return { status: 'ready' };
      return reply.code(503).header('retry-after', 1).send({ status: 'not ready', message: reason });
    });

    app.get('/metrics', { config: { operation: 'metrics' }, schema: { hide: true } }, async (request, reply) => {
      authorizeMetrics(request);
      return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
    });
  };
}
