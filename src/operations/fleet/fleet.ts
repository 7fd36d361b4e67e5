import { AppError, rejectViolations } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { Actor } from '../../management/audit/activity.ts';
import type { Audit } from '../../management/audit/audit.ts';
import type { Organization } from '../../management/organizations/organization.ts';
import type { Organizations } from '../../management/organizations/organizations.ts';
import { updateOrganization } from '../../management/organizations/store.ts';
import { type DryRunOption, writeUnlessDryRun } from '../../platform/state/dry-run.ts';
import { isUniqueViolation } from '../../platform/state/failures.ts';
import type { State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import { exportFleet } from './export.ts';
import type { Context } from './kinds/kind.ts';
import { type OrganizationPlan, planOrganization } from './organization-plan.ts';
import type { Step } from './plan.ts';
import { countProgress, createProgressLog, inSteps, type Progress } from './progress.ts';
import { parseDeclarations } from './resource.ts';
import type { FleetFile } from './schema.ts';
import { isOrganizationDeclared, lockFleet } from './store.ts';
import { listWeakSecrets } from './weak-secrets.ts';

interface ApplyOptions extends DryRunOption {
  /** Values in the file replace changes made over the API since. */
  force?: boolean;
  /** Remove resources that were declared when the file was last applied and no longer are. */
  prune?: boolean;
  /** False: the file is not remembered, and its resources are like those created over the API. Default: true. */
  isDeclaration?: boolean;
  /** Runs in the transaction, while no other file can be applied. Throws if the file must not be applied. */
  check?(tx: Db): Promise<void>;
  /** By default the progress is logged. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** What the API can change; undefined members keep their value. */
interface OrganizationFields {
  name?: string | undefined;
  keepSqlLiterals?: boolean | undefined;
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
  alertRemoval: Context['alertRemoval'];
  log: { info(details: object, message: string): void };
}

const CONFLICT = 'The file declares an id or credential that another organization already has';

export type Fleet = ReturnType<typeof createFleet>;

export function createFleet({ state, clock, audit, organizations, alertRemoval, log }: Options) {
  return {
    /** All or nothing. Reports all violations at once; any violation rejects the whole file. */
    async apply(file: FleetFile, actor: Actor, options: ApplyOptions = {}): Promise<Applied> {
      const { onProgress = createProgressLog(log, clock) } = options;
      const { organizations: declared, violations } = parseDeclarations(file);
      rejectViolations(violations);
      const declaredCount = sum(declared.map(({ resources }) => resources.length + 1));
      try {
        return await writeUnlessDryRun(state, options, async (tx) => {
          await lockFleet(tx);
          await options.check?.(tx);
          const plans: OrganizationPlan[] = [];
          const reportPlan = countProgress('plan', declaredCount, onProgress);
          for (const declaration of declared) {
            const { id } = declaration.organization;
            if (await organizations.find(tx, id)) await organizations.lock(tx, id);
            plans.push(await planOrganization(tx, declaration, { ...options, now: clock.now(), actor, alertRemoval }));
            reportPlan(declaration.resources.length + 1);
          }
          rejectViolations(plans.flatMap((plan) => plan.violations));
          const reportStored = countProgress('store', sum(plans.map(({ storedCount }) => storedCount)), onProgress);
          const reportRecorded = countProgress('record', sum(plans.map(({ changes }) => changes.length)), onProgress);
          for (const plan of plans) await plan.store(tx, reportStored);
          for (const { changes } of plans)
            await inSteps(changes, (part) => audit.recordAll(tx, actor, part), reportRecorded);
          return {
            steps: plans.flatMap(({ steps }) => steps),
            warnings: [...listWeakSecrets(file), ...plans.flatMap(({ warnings }) => warnings)],
          };
        });
      } catch (error) {
        if (isUniqueViolation(error)) throw new AppError('conflict', CONFLICT, { cause: error });
        throw error;
      }
    },

    /** Throws `conflict` if a file declares the organization and the name differs: it is what the file says. */
    updateOrganization: (actor: Actor, organizationId: string, fields: OrganizationFields): Promise<Organization> =>
      state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const before = await organizations.get(organizationId, tx);
        const { name = before.name, keepSqlLiterals = before.keepsSqlLiterals } = fields;
        const after = { ...before, name, keepsSqlLiterals: keepSqlLiterals };
        const isRenamed = name !== before.name;
        const isOtherSetting = keepSqlLiterals !== before.keepsSqlLiterals;
        if (!isRenamed && !isOtherSetting) return before;
        if (isRenamed && (await isOrganizationDeclared(tx, organizationId)))
          throw new AppError(
            'conflict',
            'The organization is declared in a fleet file; change its name in the file and apply it',
            { field: 'name' },
          );
        await updateOrganization(tx, after);
        const change = { organizationId, resource: { type: 'organization', id: organizationId } } as const;
        if (isRenamed)
          await audit.record(tx, actor, {
            ...change,
            type: 'organization_update_name',
            before: { name: before.name },
            after: { name },
          });
        if (isOtherSetting)
          await audit.record(tx, actor, {
            ...change,
            type: 'organization_update_sql_literals',
            before: { keepSqlLiterals: before.keepsSqlLiterals },
            after: { keepSqlLiterals },
          });
        return after;
      }),

    /** The whole state as a fleet file. Applying it to the same store changes nothing. */
    export: (): Promise<FleetFile> => exportFleet(state.db),
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
