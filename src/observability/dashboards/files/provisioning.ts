import { formatWithoutValue } from '../../../kernel/errors.ts';
import { deriveHexId } from '../../../kernel/ids.ts';
import type { Actor } from '../../../management/audit/activity.ts';
import type { Organization } from '../../../management/organizations/organization.ts';
import type { Organizations } from '../../../management/organizations/organizations.ts';
import type { State } from '../../../platform/state/state.ts';
import type { Db } from '../../../platform/state/tables.ts';
import type { Sources } from '../../sources/sources.ts';
import { listSourceIdViolations, normalizeDashboard } from '../dashboard.ts';
import type { DashboardWriter } from '../dashboard-writer.ts';
import type { Dashboard } from '../schema.ts';
import { findStored, listProvisioned } from '../store.ts';
import type { DashboardFile } from './dashboard-file.ts';
import type { FoundFile } from './folder.ts';

interface Options {
  state: State;
  organizations: Organizations;
  sources: Sources;
  writer: DashboardWriter;
}

export interface FileProblems {
  path: string;
  problems: string[];
}

export interface Provisioned {
  /** The number of dashboards that now come from files. */
  dashboards: number;
  saved: number;
  removed: number;
  /** Invalid files. The dashboards that they defined before are unchanged. */
  skipped: FileProblems[];
  /** Problems of files that were applied nevertheless. */
  warnings: FileProblems[];
}

interface FileDashboard {
  path: string;
  organizationId: string;
  dashboard: Dashboard;
}

const ACTOR: Actor = { type: 'system', id: 'dashboards', details: 'dashboards folder' };

export type Provisioning = ReturnType<typeof createProvisioning>;

/** Makes the store match the files of the dashboards folder, in one transaction. */
export function createProvisioning({ state, organizations, sources, writer }: Options) {
  /** In the same order everywhere, so that two nodes cannot deadlock. */
  async function lockOrganizations(tx: Db, ids: Iterable<string>): Promise<void> {
    for (const id of [...new Set(ids)].sort()) await organizations.lock(tx, id);
  }

  async function saveAll(tx: Db, dashboards: readonly FileDashboard[]): Promise<number> {
    let saved = 0;
    for (const { organizationId, dashboard, path } of dashboards) {
      const before = await findStored(tx, organizationId, dashboard.id);
      const after = await writer.save(tx, ACTOR, organizationId, before, dashboard, path);
      if (after !== before) saved++;
    }
    return saved;
  }

  async function listWarnings(tx: Db, dashboards: readonly FileDashboard[]): Promise<FileProblems[]> {
    const sourceIds = new Map<string, ReadonlySet<string>>();
    const warnings: FileProblems[] = [];
    for (const { path, organizationId, dashboard } of dashboards) {
      const known = sourceIds.get(organizationId) ?? (await sources.listIds(tx, organizationId));
      sourceIds.set(organizationId, known);
      const unknown = listSourceIdViolations(dashboard, known);
      if (unknown.length > 0) warnings.push({ path, problems: unknown.map(formatWithoutValue) });
    }
    return warnings;
  }

  return {
    async apply(files: readonly FoundFile[]): Promise<Provisioned> {
      const { dashboards, skipped } = matchOrganizations(files, await organizations.list());
      const skippedPaths = new Set(skipped.map(({ path }) => path));
      const counts = await state.write(async (tx) => {
        const orphaned = (await listProvisioned(tx)).filter(
          ({ organizationId, id, provisionedFrom = '' }) =>
            !skippedPaths.has(provisionedFrom) &&
            !dashboards.some((one) => one.organizationId === organizationId && one.dashboard.id === id),
        );
        await lockOrganizations(
          tx,
          [...orphaned, ...dashboards].map(({ organizationId }) => organizationId),
        );
        const saved = await saveAll(tx, dashboards);
        for (const one of orphaned) await writer.remove(tx, ACTOR, one.organizationId, one);
        return { saved, removed: orphaned.length, warnings: await listWarnings(tx, dashboards) };
      });
      return { dashboards: dashboards.length, ...counts, skipped };
    },

    /** Makes provisioned dashboards editable again, for a server without a dashboards folder. Returns how many. */
    async release(): Promise<number> {
      // Reads inside the transaction: a write waits while another starting process locks the store, a read fails.
      return state.write(async (tx) => {
        const provisioned = await listProvisioned(tx);
        await lockOrganizations(
          tx,
          provisioned.map(({ organizationId }) => organizationId),
        );
        for (const { organizationId, id, provisionedFrom = '' } of provisioned)
          await writer.release(tx, ACTOR, organizationId, id, provisionedFrom);
        return provisioned.length;
      });
    },
  };
}

/** Finds the organization and id of each file's dashboard. Files without one, or with a duplicate, are skipped. */
function matchOrganizations(
  files: readonly FoundFile[],
  all: readonly Organization[],
): { dashboards: FileDashboard[]; skipped: FileProblems[] } {
  const dashboards = new Map<string, FileDashboard>();
  const skipped: FileProblems[] = [];
  for (const found of files) {
    const { path } = found;
    if ('text' in found) continue;
    if ('problems' in found) {
      skipped.push(found);
      continue;
    }
    const organization = findOrganization(found.file, all);
    if (typeof organization === 'string') {
      skipped.push({ path, problems: [organization] });
      continue;
    }
    const id = found.file.id ?? deriveHexId('dashboards folder', path.replace(/\.[^.]*$/, ''));
    const key = `${organization.id} ${id}`;
    const duplicate = dashboards.get(key);
    if (duplicate) skipped.push({ path, problems: [`id: The file ${duplicate.path} has the same id`] });
    else dashboards.set(key, { path, organizationId: organization.id, dashboard: normalizeDashboard(id, found.file) });
  }
  return { dashboards: [...dashboards.values()], skipped };
}

/** Returns the organization, or the reason why there is none. */
export function findOrganization(
  { organization: named }: Pick<DashboardFile, 'organization'>,
  all: readonly Organization[],
): Organization | string {
  const found = all.filter(({ id, name }) => named === undefined || id === named.toLowerCase() || name === named);
  const [only] = found;
  if (only && found.length === 1) return only;
  if (named !== undefined && found.length === 0) return 'organization: The organization does not exist';
  if (all.length === 0) return 'organization: There is no organization yet';
  return `organization: The value must be one of ${all.map(({ name }) => name).join(', ')}`;
}
