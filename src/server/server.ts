import type { Domains } from './domains.ts';
import { type Addresses, openRequests } from './requests.ts';
import type { RunningServices } from './running-services.ts';
import { MAX_STOP_MS, type Options, openBackground, openStores, STOP_MS } from './server-parts.ts';
import { createShutdown } from './shutdown.ts';

export interface Server extends Addresses {
  domains: Domains;
  reconciliation: RunningServices;
  /** Stops accepting connections, finishes requests in flight, stores pending updates and closes the stores. */
  close(): Promise<void>;
}

/**
 * Opens the stores, creates the domains, mounts the routes and listens. `close` undoes these steps in reverse order; so
 * does a step that fails.
 */
export async function startServer(options: Options): Promise<Server & { document(): object }> {
  const shutdown = createShutdown(MAX_STOP_MS);
  try {
    const stores = await openStores(options, shutdown);
    const background = await openBackground(options, stores, shutdown);
    const { domains, services } = background;
    const { document, listen, close } = await openRequests(options, stores, domains, {
      findIdleStatus: services.findIdleStatus,
      listSlowQueries: services.listSlowQueries,
      findSqlAccess: services.findSqlAccess,
      cancelStatement: services.cancelStatement,
      listUsageWarnings: domains.usageWarnings.list,
      listHungWorkers: async () => [],
      renderMetrics: () => stores.metrics.registry.metrics(),
    });
    shutdown.add('requests', STOP_MS.requests, () => Promise.all([close(), background.close()]));
    const addresses = await listen();
    await background.start();
    return { ...addresses, domains, reconciliation: services, document, close: shutdown.run };
  } catch (error) {
    // The reason is reported even if closing fails too.
    await shutdown.run().catch(() => {});
    throw error;
  }
}
