import type { Actor } from '../audit/activity.ts';
import { formatViolation } from '../kernel/errors.ts';
import { deriveHexId } from '../kernel/ids.ts';
import type { Organization } from '../organizations/organization.ts';
import type { Organizations } from '../organizations/organizations.ts';
import type { Sources } from '../sources/sources.ts';
import type { State } from '../state/state.ts';
import { completed, sourceIdViolations } from './dashboard.ts';
import type { DashboardFile } from './file.ts';
import type { FoundFile } from './folder.ts';
import type { Saving } from './saving.ts';
import type { Dashboard } from './schema.ts';
import { findStored, listProvisioned } from './store.ts';

interface Options {
  state: State;
  organizations: Organizations;
  sources: Sources;
  saving: Saving;
}

export interface Mistake {
  path: string;
  mistakes: string[];
}

export interface Provisioned {
  /** How many dashboards come from files now. */
  dashboards: number;
  saved: number;
  removed: number;
  /** The files that were left out, and why; what was made from them before stays. */
  mistakes: Mistake[];
  /** What is odd about files that were applied all the same. */
  warnings: Mistake[];
}

interface Wanted {
  path: string;
  organizationId: string;
  dashboard: Dashboard;
}

const ACTOR: Actor = { type: 'system', id: 'dashboards', details: 'dashboards folder' };

export type Provisioning = ReturnType<typeof createProvisioning>;

/** Makes the store match a folder of files, in one transaction. */
export function createProvisioning({ state, organizations, sources, saving }: Options) {
  return {
    async apply(files: readonly FoundFile[]): Promise<Provisioned> {
      const { wanted, mistakes } = sorted(files, await organizations.list());
      const broken = new Set(mistakes.map(({ path }) => path));
      const counts = await state.write(async (tx) => {
        const gone = (await listProvisioned(tx)).filter(
          ({ organizationId, id, provisionedFrom = '' }) =>
            !broken.has(provisionedFrom) &&
            !wanted.some((one) => one.organizationId === organizationId && one.dashboard.id === id),
        );
        const touched = new Set([...gone, ...wanted].map(({ organizationId }) => organizationId));
        // Always in the same order, so that two nodes never wait for each other.
        for (const id of [...touched].sort()) await organizations.take(tx, id);
        const known = new Map<string, ReadonlySet<string>>();
        for (const id of touched) known.set(id, await sources.ids(tx, id));
        let saved = 0;
        for (const { organizationId, dashboard, path } of wanted) {
          const before = await findStored(tx, organizationId, dashboard.id);
          const after = await saving.save(tx, ACTOR, organizationId, before, dashboard, path);
          if (after !== before) saved++;
        }
        for (const one of gone) await saving.remove(tx, ACTOR, one.organizationId, one);
        const warnings = wanted.flatMap(({ path, organizationId, dashboard }) => {
          const unknown = sourceIdViolations(dashboard, known.get(organizationId) ?? new Set());
          return unknown.length === 0 ? [] : [{ path, mistakes: unknown.map(formatViolation) }];
        });
        return { saved, removed: gone.length, warnings };
      });
      return { dashboards: wanted.length, ...counts, mistakes };
    },

    /** Without a folder nobody could change what once came from one: all of it is given back. Answers how many. */
    async release(): Promise<number> {
      // Not read apart from that: a change waits while another process that starts holds the store, a mere read does not.
      return state.write(async (tx) => {
        const held = await listProvisioned(tx);
        for (const id of [...new Set(held.map(({ organizationId }) => organizationId))].sort())
          await organizations.take(tx, id);
        for (const { organizationId, id, provisionedFrom = '' } of held)
          await saving.release(tx, ACTOR, organizationId, id, provisionedFrom);
        return held.length;
      });
    },
  };
}

/** Which dashboard each file means, and the files that mean none. */
function sorted(files: readonly FoundFile[], all: readonly Organization[]): { wanted: Wanted[]; mistakes: Mistake[] } {
  const wanted = new Map<string, Wanted>();
  const mistakes: Mistake[] = [];
  for (const found of files) {
    const { path } = found;
    if ('mistakes' in found) {
      mistakes.push(found);
      continue;
    }
    const organization = organizationOf(found.file, all);
    if (typeof organization === 'string') {
      mistakes.push({ path, mistakes: [organization] });
      continue;
    }
    const id = found.file.id ?? deriveHexId('dashboards folder', path.replace(/\.[^.]*$/, ''));
    const known = wanted.get(`${organization.id} ${id}`);
    if (known) mistakes.push({ path, mistakes: [`id: ${known.path} has this dashboard already <string:${id}>`] });
    else
      wanted.set(`${organization.id} ${id}`, {
        path,
        organizationId: organization.id,
        dashboard: completed(id, found.file),
      });
  }
  return { wanted: [...wanted.values()], mistakes };
}

/** The organization, or why there is none. */
function organizationOf({ organization: named }: DashboardFile, all: readonly Organization[]): Organization | string {
  const found = all.filter(({ id, name }) => named === undefined || id === named.toLowerCase() || name === named);
  const [only] = found;
  if (only && found.length === 1) return only;
  if (named !== undefined && found.length === 0) return `organization: There is no such organization <string:${named}>`;
  if (all.length === 0) return 'organization: There is no organization yet';
  return `organization: The value must name one of ${all.map(({ name }) => name).join(', ')}`;
}
