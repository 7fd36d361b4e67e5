import type { Actor } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError, rejectViolations } from '../kernel/errors.ts';
import type { Organizations } from '../organizations/organizations.ts';
import { type DryRunOption, writeUnlessDryRun } from '../state/dry-run.ts';
import { isUniqueViolation } from '../state/failures.ts';
import type { State } from '../state/state.ts';
import { exportFleet } from './export.ts';
import { planOrganization } from './organization-plan.ts';
import type { Step } from './plan.ts';
import { declaredIn } from './resource.ts';
import type { FleetFile } from './schema.ts';
import { takeTurn } from './store.ts';

interface ApplyOptions extends DryRunOption {
  /** The file wins over everything that the API changed since. */
  force?: boolean;
  /** Remove what an earlier version of the file declared and this one does not. */
  prune?: boolean;
}

interface Applied {
  steps: Step[];
  warnings: string[];
}

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
}

const TAKEN = 'The file declares an id or a credential that another organization has already';

export function createFleet({ state, clock, audit, organizations }: Options) {
  return {
    /** All or nothing: every mistake is listed, and none of the file is stored when there is one. */
    async apply(file: FleetFile, actor: Actor, options: ApplyOptions = {}): Promise<Applied> {
      const { organizations: declared, violations } = declaredIn(file);
      rejectViolations(violations);
      try {
        return await writeUnlessDryRun(state, options, async (tx) => {
          await takeTurn(tx);
          const plans = [];
          for (const one of declared) {
            if (await organizations.find(tx, one.organization.id)) await organizations.take(tx, one.organization.id);
            plans.push(await planOrganization(tx, one, clock.now(), actor, options));
          }
          rejectViolations(plans.flatMap((plan) => plan.violations));
          for (const plan of plans) {
            await plan.store(tx);
            for (const change of plan.changes) await audit.record(tx, actor, change);
          }
          return { steps: plans.flatMap(({ steps }) => steps), warnings: plans.flatMap(({ warnings }) => warnings) };
        });
      } catch (error) {
        if (isUniqueViolation(error)) throw new AppError('conflict', TAKEN, { cause: error });
        throw error;
      }
    },

    /** The whole state as a file; applying it to the same store changes nothing. */
    export: (): Promise<FleetFile> => exportFleet(state.db),
  };
}
