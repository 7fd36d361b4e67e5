import type { Logger } from 'pino';
import type { Clock } from '../kernel/time/clock.ts';
import type { Audit } from '../management/audit/audit.ts';
import type { Prices } from '../management/billing/prices/prices.ts';
import type { Organizations } from '../management/organizations/organizations.ts';
import type { Services } from '../management/services/services.ts';
import { readDirectoryName } from '../platform/engine/directory-id.ts';
import type { State } from '../platform/state/state.ts';
import { createAutoscaling } from '../running/autoscaling/autoscaling.ts';
import { createLoadHistory } from '../running/autoscaling/load-history.ts';
import { createReplays } from '../running/autoscaling/replay/replays.ts';
import { createBackups } from '../running/backups/backups.ts';
import { createSavedQueries } from '../running/queries/saved-queries.ts';
import { createStatementLog } from '../running/queries/statement-log.ts';

interface Options {
  state: State;
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn'>;
  audit: Audit;
  organizations: Organizations;
  services: Services;
  prices: Prices;
  /** ClickHouse elsewhere can write backups to S3-compatible storage, with a key of its own. */
  hasSqlStorage: boolean;
  dataDirectory: string;
}

/** What belongs to running services and needs no running service itself. */
export function createRunningDomains(options: Options) {
  const { state, clock, log, audit, organizations, services, prices, hasSqlStorage, dataDirectory } = options;
  const loadHistory = createLoadHistory({ state });
  return {
    loadHistory,
    autoscaling: createAutoscaling({ state, clock, organizations, services, prices, loadHistory }),
    replays: createReplays({ clock, prices, loadHistory }),
    backups: createBackups({ state, clock, audit, organizations, services, hasSqlStorage }),
    statementLog: createStatementLog({
      state,
      audit,
      organizations,
      log,
      getDirectoryId: () => readDirectoryName(dataDirectory),
    }),
    savedQueries: createSavedQueries({ state, clock, audit, organizations, services }),
  };
}
