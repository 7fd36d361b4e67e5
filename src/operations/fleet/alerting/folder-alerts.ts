import { AppError, formatWithoutValue, rejectViolations, type Violation } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import type { Actor } from '../../../management/audit/activity.ts';
import type { Audit } from '../../../management/audit/audit.ts';
import type { Organization } from '../../../management/organizations/organization.ts';
import type { Organizations } from '../../../management/organizations/organizations.ts';
import { type AlertFileText, listProblems } from '../../../observability/dashboards/files/folder.ts';
import { type FileProblems, findOrganization } from '../../../observability/dashboards/files/provisioning.ts';
import type { State } from '../../../platform/state/state.ts';
import type { Db } from '../../../platform/state/tables.ts';
import { declareAlerting } from '../alerting-declarations.ts';
import type { Declared } from '../declared.ts';
import { createKindPlanner } from '../kind-plan.ts';
import { dashboardKind } from '../kinds/dashboard.ts';
import type { Context } from '../kinds/kind.ts';
import { sourceKind } from '../kinds/source.ts';
import { NO_TARGETS } from '../references.ts';
import { reportDuplicates } from '../resource.ts';
import { listDocuments, listOrganizationsWithDocuments, lockFleet, putNewDocuments } from '../store.ts';
import { parseAlertFile } from './alert-file.ts';
import { planAlerting } from './alerting-plan.ts';

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  alertRemoval: Context['alertRemoval'];
}

interface AppliedAlertFiles {
  /** The number of resources that changed. */
  changed: number;
  /** If there are any, nothing was applied. */
  problems: FileProblems[];
  /** Of files that were applied nevertheless. */
  warnings: FileProblems[];
}

const ACTOR: Actor = { type: 'system', id: 'dashboards', details: 'dashboards folder' };
/** The folder and the fleet file do not know the declarations of each other. */
const PREFIX = 'folder ';

/** Applies the alert files of the dashboards folder: all of them or none. Merged and pruned like a fleet file. */
export function createFolderAlerts({ state, clock, audit, organizations, alertRemoval }: Options) {
  async function planOne(tx: Db, organization: Organization, resources: readonly Declared[]) {
    const { id: organizationId } = organization;
    const documents = await listDocuments(tx, organizationId);
    const context: Context = {
      organization,
      now: clock.now(),
      actor: ACTOR,
      services: new Map(),
      targets: NO_TARGETS,
      alertRemoval,
      lockedThrough: '',
    };
    const options = { organizationId, path: '', documents, prefix: PREFIX, context, force: false, resources };
    const plan = createKindPlanner({ tx, ...options });
    const dashboards = await dashboardKind.load(tx, organizationId, []);
    const alerting = await planAlerting(plan, context, dashboards, { resources, path: '', prune: true });
    return { organizationId, documents, alerting };
  }

  async function apply(tx: Db, declared: ReadonlyMap<string, Declared[]>) {
    await lockFleet(tx);
    const ids = new Set([...declared.keys(), ...(await listOrganizationsWithDocuments(tx, PREFIX))]);
    let changed = 0;
    const warnings: Violation[] = [];
    for (const id of [...ids].sort()) {
      const organization = await organizations.find(tx, id);
      if (!organization) continue;
      await organizations.lock(tx, id);
      const { alerting, documents } = await planOne(tx, organization, declared.get(id) ?? []);
      rejectViolations([...alerting.kinds.flatMap(({ violations }) => violations()), ...alerting.violations()]);
      for (const kind of [...alerting.kinds].reverse()) await kind.store(tx, () => {});
      const changes = alerting.kinds.flatMap((kind) => kind.changes);
      await audit.recordAll(tx, ACTOR, changes);
      await putNewDocuments(tx, id, alerting.resources, documents, PREFIX);
      changed += changes.length;
      warnings.push(...alerting.listMissingSources(await sourceKind.load(tx, id, [])));
    }
    return { changed, warnings };
  }

  return async function applyAlertFiles(files: readonly AlertFileText[]): Promise<AppliedAlertFiles> {
    const { declared, problems } = declareFiles(files, await organizations.list());
    if (problems.length > 0) return { changed: 0, problems, warnings: [] };
    try {
      const { changed, warnings } = await state.write((tx) => apply(tx, declared));
      return { changed, problems: [], warnings: groupByFile(warnings, files) };
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'unavailable') throw error;
      const { violations, message } = error;
      const all = violations.length > 0 ? groupByFile(violations, files) : [{ path: '', problems: [message] }];
      return { changed: 0, problems: all, warnings: [] };
    }
  };
}

/** The path of a declaration starts with that of its file. */
const toPrefix = (path: string): string => `${path}: `;

function declareFiles(files: readonly AlertFileText[], all: readonly Organization[]) {
  const declared = new Map<string, Declared[]>();
  const violations: Violation[] = [];
  const problems: FileProblems[] = [];
  for (const { path, text } of files) {
    try {
      const { organization: named, ...spec } = parseAlertFile(text);
      const organization = findOrganization({ organization: named }, all);
      if (typeof organization === 'string') throw new AppError('bad_request', organization);
      const resources = declareAlerting(organization.id, spec, toPrefix(path), violations);
      declared.set(organization.id, [...(declared.get(organization.id) ?? []), ...resources]);
    } catch (error) {
      problems.push({ path, problems: listProblems(error) });
    }
  }
  for (const resources of declared.values()) reportDuplicates(resources, violations);
  problems.push(...groupByFile(violations, files));
  return { declared, problems };
}

function groupByFile(violations: readonly Violation[], files: readonly AlertFileText[]): FileProblems[] {
  const groups = new Map<string, string[]>();
  for (const violation of violations) {
    const { path: file = '' } = files.find(({ path }) => violation.path.startsWith(toPrefix(path))) ?? {};
    const path = file === '' ? violation.path : violation.path.slice(toPrefix(file).length);
    groups.set(file, [...(groups.get(file) ?? []), formatWithoutValue({ ...violation, path })]);
  }
  return [...groups].map(([path, problems]) => ({ path, problems }));
}
