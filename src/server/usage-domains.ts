import type { Logger } from 'pino';
import type { Clock } from '../kernel/time/clock.ts';
import type { Audit } from '../management/audit/audit.ts';
import type { Entities } from '../management/billing/entities.ts';
import { createEngineBinding } from '../management/billing/metering/engine-binding.ts';
import { createEngineOwner } from '../management/billing/metering/engine-owner.ts';
import { createIntake } from '../management/billing/metering/intake.ts';
import { createUsageInspection } from '../management/billing/rating/inspect-usage.ts';
import { createLockClock } from '../management/billing/rating/lock-clock.ts';
import { createRater } from '../management/billing/rating/rater.ts';
import { createRating } from '../management/billing/rating/rating.ts';
import { createUsageWarnings } from '../management/billing/rating/usage-warnings.ts';
import type { Organizations } from '../management/organizations/organizations.ts';
import type { Engine } from '../platform/engine/engine.ts';
import type { State } from '../platform/state/state.ts';
import type { Config } from './settings/config.ts';

interface Options {
  state: State;
  engine: Engine;
  /** Of this node: a day is locked when it is over by both clocks. */
  nodeClock: Clock;
  log: Pick<Logger, 'info' | 'warn'>;
  audit: Audit;
  organizations: Organizations;
  entities: Entities;
  observeRating: ((seconds: number) => void) | undefined;
  engineOwnerNode: string | undefined;
  config: Pick<Config, 'dataDirectory' | 'lockAfterDays'>;
}

/** Takes usage in, and rates it. */
export function createUsageDomains(options: Options) {
  const { state, engine, nodeClock, log, audit, organizations, entities, config } = options;
  const { clock } = state;
  const { dataDirectory, lockAfterDays } = config;
  const owner = createEngineOwner({ state, engine, clock, log, dataDirectory, ownerNode: options.engineOwnerNode });
  const metering = { state, engine, owner, binding: createEngineBinding({ state, engine, clock }), clock };
  const intake = createIntake({ ...metering, organizations, entities, log });
  const rating = createRating({
    ...metering,
    state: owner.state,
    clock: nodeClock,
    audit,
    organizations,
    entities,
    observe: options.observeRating,
  });
  const lockClock = createLockClock({ state, clock, audit, organizations });
  const usageInspection = createUsageInspection({ ...metering, lockClock, lockAfterDays });
  const usageWarnings = createUsageWarnings({ state, owner, log });
  const rater = createRater({
    state,
    log,
    intake,
    rating,
    owner,
    lockClock,
    warnings: usageWarnings,
    lockAfterDays,
  });
  return { engineOwner: owner, intake, rating, rater, lockClock, usageInspection, usageWarnings };
}
