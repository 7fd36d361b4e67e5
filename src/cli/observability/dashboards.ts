import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { deriveHexId } from '../../kernel/ids.ts';
import { plural } from '../../kernel/text.ts';
import { isoSeconds } from '../../kernel/time/clock.ts';
import { normalizeDashboard } from '../../observability/dashboards/dashboard.ts';
import { formatDashboardFile } from '../../observability/dashboards/files/dashboard-file.ts';
import type { Dashboard } from '../../observability/dashboards/schema.ts';
import type { Domains } from '../../server/domains.ts';
import { STORE_SETTINGS } from '../../server/settings/settings.ts';
import { defineCommand, UsageError } from '../command.ts';
import { getOrganization } from '../context.ts';
import { formatSummary } from '../operations/apply.ts';
import { argument, argumentList, dryRunOption, flag, jsonOption, option, organizationOption } from '../parameters.ts';
import { listFileProblems, readDashboardFiles } from './dashboard-files.ts';

const listDashboards = defineCommand({
  name: 'dashboard list',
  summary: 'List dashboards',
  settings: STORE_SETTINGS,
  options: { org: organizationOption, json: jsonOption },
  run: ({ withOrganization }) =>
    withOrganization(async (organization, { dashboards }) => {
      const records = (await dashboards.list(organization.id)).map(({ id, name, json, version, provisionedFrom }) => {
        const { tags, tiles }: Dashboard = JSON.parse(json);
        return { id, name, tags, tiles: tiles.length, version, provisionedFrom };
      });
      const rows = records.map(({ id, name, tiles, tags, version, provisionedFrom = '' }) => [
        id,
        name,
        String(tiles),
        tags.join(', '),
        String(version),
        provisionedFrom,
      ]);
      return { json: records, table: { header: ['ID', 'NAME', 'TILES', 'TAGS', 'VERSION', 'FILE'], rows } };
    }),
});

const getDashboard = defineCommand({
  name: 'dashboard get',
  summary: 'Print a dashboard as a file for dashboard apply',
  settings: STORE_SETTINGS,
  arguments: { id: argument('<id>', 'Dashboard id') },
  options: { org: organizationOption, json: flag('Print JSON instead of YAML') },
  run: ({ withOrganization, arguments: { id }, options }) =>
    withOrganization(async (organization, { dashboards }) => {
      const { json } = await dashboards.get(organization.id, id);
      return { lines: [formatDashboardFile(JSON.parse(json), options.json)] };
    }),
});

const listVersions = defineCommand({
  name: 'dashboard versions',
  summary: 'List the versions of a dashboard, newest first',
  settings: STORE_SETTINGS,
  arguments: { id: argument('<id>', 'Dashboard id, including deleted dashboards') },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withOrganization, arguments: { id } }) =>
    withOrganization(async (organization, domains) => {
      const versions = (await domains.versions.list(organization.id, id)).map(({ savedAt, ...version }) => ({
        ...version,
        savedAt: isoSeconds(savedAt),
      }));
      const rows = versions.map(({ version, savedAt, savedBy, name, tileCount }) => [
        String(version),
        savedAt,
        savedBy,
        name,
        String(tileCount),
      ]);
      return { json: versions, table: { header: ['VERSION', 'SAVED AT', 'SAVED BY', 'NAME', 'TILES'], rows } };
    }),
});

const restoreVersion = defineCommand({
  name: 'dashboard restore',
  summary: 'Restore a version of a dashboard, also after it was deleted',
  settings: STORE_SETTINGS,
  arguments: {
    id: argument('<id>', 'Dashboard id'),
    version: argument('<version>', 'Version number, as listed by dashboard versions'),
  },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withOrganization, actor, arguments: { id, version } }) =>
    withOrganization(async (organization, domains) => {
      const restored = await domains.versions.restore(actor(), organization.id, id, Number(version));
      const { name }: Dashboard = JSON.parse(restored.json);
      return {
        json: { id, name, version: restored.version },
        lines: [`Restored ${name} as version ${restored.version}.`],
      };
    }),
});

const applyDashboards = defineCommand({
  name: 'dashboard apply',
  summary: 'Create or replace dashboards from files, all or none',
  settings: STORE_SETTINGS,
  arguments: { files: argumentList('<files...>', 'Dashboard files, YAML or JSON') },
  options: { org: organizationOption, dryRun: dryRunOption, json: jsonOption },
  async run(context) {
    const { org, dryRun } = context.options;
    const files = readDashboardFiles(context, context.arguments.files);
    return context.withDomains(async (domains) => {
      const wanted = await Promise.all(
        files.map(async (file) => {
          const { id: organizationId } = await getOrganization(domains, org ?? file.organization);
          const id = file.id ?? deriveHexId(organizationId, 'dashboard', file.name);
          return { organizationId, dashboard: normalizeDashboard(id, file) };
        }),
      );
      const { dashboards, warnings } = await domains.applyDashboards(context.actor(), wanted, { dryRun });
      const changes = dashboards.filter(({ action }) => action !== 'unchanged');
      const count = (action: string) => dashboards.filter((applied) => applied.action === action).length;
      const summary = `${count('add')} added, ${count('change')} changed, ${count('unchanged')} unchanged`;
      return {
        json: { dryRun, dashboards, warnings },
        warnings,
        lines: [
          ...changes.map(({ action, name, id }) => `${action === 'add' ? '+' : '~'} ${name} (${id})`),
          formatSummary(summary, dryRun),
        ],
      };
    });
  },
});

const exportDashboards = defineCommand({
  name: 'dashboard export',
  summary: 'Export dashboards as files for dashboard apply',
  settings: STORE_SETTINGS,
  arguments: { ids: argumentList('[ids...]', 'Dashboard ids; all dashboards if omitted') },
  options: {
    org: organizationOption,
    out: option('<directory>', 'Write one file per dashboard to this directory instead of standard output'),
    json: flag('Write JSON instead of YAML'),
  },
  run: ({ withOrganization, writeFile, arguments: { ids }, options: { out, json: isJson } }) =>
    withOrganization(async (organization, domains) => {
      const dashboards = await readDashboards(domains, organization.id, ids);
      if (out === undefined) return { lines: [formatDocuments(dashboards, isJson)] };
      const hasSeveralOrganizations = (await domains.organizations.list()).length > 1;
      mkdirSync(out, { recursive: true });
      for (const dashboard of dashboards) {
        const file = hasSeveralOrganizations ? { organization: organization.id, ...dashboard } : dashboard;
        const path = join(out, `${dashboard.id}.${isJson ? 'json' : 'yaml'}`);
        writeFile(path, `${formatDashboardFile(file, isJson)}\n`);
      }
      return { notes: [`Exported ${plural(dashboards.length, 'dashboard')} to ${out}.`] };
    }),
});

const validateFiles = defineCommand({
  name: 'dashboard validate',
  summary: 'Check dashboard files and list all errors; needs no store',
  arguments: { files: argumentList('<files...>', 'Dashboard files, YAML or JSON') },
  options: { json: jsonOption },
  async run(context) {
    const { files } = context.arguments;
    const problems = listFileProblems(context, files);
    const lines = problems.map(({ file, message }) => `${file}: ${message}`);
    const json = { valid: problems.length === 0, mistakes: problems };
    if (problems.length > 0) return { json, error: new UsageError(lines) };
    return { json, lines: [files.length === 1 ? 'The file is valid.' : `All ${files.length} files are valid.`] };
  },
});

export const dashboardCommands = [
  listDashboards,
  getDashboard,
  listVersions,
  restoreVersion,
  applyDashboards,
  exportDashboards,
  validateFiles,
];

/** All dashboards of the organization if `ids` is empty. */
async function readDashboards(domains: Domains, organizationId: string, ids: readonly string[]): Promise<Dashboard[]> {
  if (ids.length === 0) return (await domains.dashboards.list(organizationId)).map(({ json }) => JSON.parse(json));
  return Promise.all(ids.map(async (id) => JSON.parse((await domains.dashboards.get(organizationId, id)).json)));
}

/** A JSON array, or YAML documents separated by `---`. */
function formatDocuments(dashboards: readonly Dashboard[], isJson: boolean): string {
  if (isJson) return JSON.stringify(dashboards, null, 2);
  return dashboards.map((dashboard) => formatDashboardFile(dashboard, false)).join('\n---\n');
}
