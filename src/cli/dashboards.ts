import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { normalizeDashboard } from '../dashboards/dashboard.ts';
import { type DashboardFile, formatDashboardFile, parseDashboardFiles } from '../dashboards/dashboard-file.ts';
import { listProblems } from '../dashboards/folder.ts';
import type { Dashboard } from '../dashboards/schema.ts';
import type { Domains } from '../domains.ts';
import { isoSeconds } from '../kernel/clock.ts';
import { deriveHexId } from '../kernel/ids.ts';
import {
  chosenOrganization,
  localActor,
  STORE_SETTINGS,
  table,
  UsageError,
  type World,
  withDomains,
  withSettings,
} from './command.ts';

type Stored = Awaited<ReturnType<Domains['dashboards']['list']>>[number];

export function dashboardCommands(program: Command, world: World): void {
  const group = program.command('dashboard').description('dashboards, their versions, and files of them');
  const onStore = (name: string, description: string) =>
    withSettings(group.command(name).description(description), STORE_SETTINGS)
      .option('--org <id or name>', 'organization')
      .option('--json', 'as JSON');

  onStore('list', 'list dashboards').action(async (options) => {
    await withDomains(options, world, async (domains) => {
      const { id } = await chosenOrganization(domains, options.org);
      const all = (await domains.dashboards.list(id)).map(shown);
      if (options.json) return world.print(JSON.stringify(all));
      const rows = all.map((one) => [
        one.id,
        one.name,
        String(one.tiles),
        one.tags.join(', '),
        String(one.version),
        one.provisionedFrom ?? '',
      ]);
      for (const line of table(['ID', 'NAME', 'TILES', 'TAGS', 'VERSION', 'PROVISIONED FROM'], rows)) world.print(line);
    });
  });

  onStore('get', 'print one dashboard, as the file that apply reads')
    .argument('<id>', 'its id')
    .action(async (id, options) => {
      await withDomains(options, world, async (domains) => {
        const organization = await chosenOrganization(domains, options.org);
        const { json } = await domains.dashboards.get(organization.id, id);
        world.print(formatDashboardFile(JSON.parse(json), options.json === true));
      });
    });

  onStore('versions', 'list the saved versions of a dashboard, newest first')
    .argument('<id>', 'its id, also after it was deleted')
    .action(async (id, options) => {
      await withDomains(options, world, async (domains) => {
        const organization = await chosenOrganization(domains, options.org);
        const versions = (await domains.versions.list(organization.id, id)).map(({ savedAt, ...version }) => ({
          ...version,
          savedAt: isoSeconds(savedAt),
        }));
        if (options.json) return world.print(JSON.stringify(versions));
        const rows = versions.map((one) => [
          String(one.version),
          one.savedAt,
          one.savedBy,
          one.name,
          `${one.tileCount}`,
        ]);
        for (const line of table(['VERSION', 'SAVED AT', 'SAVED BY', 'NAME', 'TILES'], rows)) world.print(line);
      });
    });

  onStore('restore', 'save an old version as the newest one; brings a deleted dashboard back')
    .argument('<id>', 'its id')
    .argument('<version>', 'a number that versions shows')
    .action(async (id, version, options) => {
      await withDomains(options, world, async (domains) => {
        const organization = await chosenOrganization(domains, options.org);
        const restored = await domains.versions.restore(localActor(world), organization.id, id, Number(version));
        const { name }: Dashboard = JSON.parse(restored.json);
        if (options.json) world.print(JSON.stringify({ id, name, version: restored.version }));
        else world.print(`Restored ${name}; it is version ${restored.version} now.`);
      });
    });

  onStore('apply', 'add or replace dashboards from files; all of them or none')
    .argument('<files...>', 'YAML or JSON, as export writes them')
    .option('--dry-run', 'only say what would happen')
    .action(async (paths: string[], options) => {
      const files = readAll(paths, world);
      await withDomains(options, world, async (domains) => {
        const wanted = await Promise.all(
          files.map(async (file) => {
            const { id: organizationId } = await chosenOrganization(domains, options.org ?? file.organization);
            const id = file.id ?? deriveHexId(organizationId, 'dashboard', file.name);
            return { organizationId, dashboard: normalizeDashboard(id, file) };
          }),
        );
        const { dashboards, warnings } = await domains.applyDashboards(localActor(world), wanted, options);
        for (const warning of warnings) world.say(`warning: ${warning}`);
        if (options.json) return world.print(JSON.stringify({ dryRun: options.dryRun === true, dashboards, warnings }));
        for (const { action, name, id } of dashboards.filter((one) => one.action !== 'unchanged'))
          world.print(`${action === 'add' ? '+' : '~'} ${name} (${id})`);
        const count = (action: string) => dashboards.filter((one) => one.action === action).length;
        const summary = `${count('add')} added, ${count('change')} changed, ${count('unchanged')} unchanged`;
        world.print(options.dryRun ? `Plan: ${summary}. Nothing was stored.` : `Applied: ${summary}.`);
      });
    });

  onStore('export', 'write dashboards as files that apply reads')
    .argument('[ids...]', 'those dashboards only')
    .option('--out <directory>', 'one file for each, named by its id; standard output when left out')
    .action(async (ids: string[], options) => {
      await withDomains(options, world, async (domains) => {
        const organization = await chosenOrganization(domains, options.org);
        const chosen = await chosenDashboards(domains, organization.id, ids);
        const isJson = options.json === true;
        if (options.out === undefined) return world.print(joined(chosen, isJson));
        const isOneOfMany = (await domains.organizations.list()).length > 1;
        mkdirSync(options.out, { recursive: true });
        for (const dashboard of chosen) {
          const file = isOneOfMany ? { organization: organization.id, ...dashboard } : dashboard;
          const path = join(options.out, `${dashboard.id}.${isJson ? 'json' : 'yaml'}`);
          world.writeFile(path, `${formatDashboardFile(file, isJson)}\n`);
        }
        world.say(`Wrote ${chosen.length} dashboards to ${options.out}.`);
      });
    });

  group
    .command('validate')
    .description('list every mistake in files of dashboards; needs no store')
    .argument('<files...>', 'YAML or JSON')
    .option('--json', 'as JSON')
    .action((paths: string[], options) => {
      const mistakes = paths.flatMap((path) => {
        const read = readOne(path, world);
        return 'mistakes' in read ? read.mistakes.map((message) => ({ file: path, message })) : [];
      });
      if (options.json) world.print(JSON.stringify({ valid: mistakes.length === 0, mistakes }));
      if (mistakes.length > 0) throw new UsageError(mistakes.map(({ file, message }) => `${file}: ${message}`));
      if (!options.json)
        world.print(paths.length === 1 ? 'The file is valid.' : `All ${paths.length} files are valid.`);
    });
}

const shown = ({ dashboard: { id, name, tags, tiles }, version, provisionedFrom }: Stored) => ({
  id,
  name,
  tags,
  tiles: tiles.length,
  version,
  provisionedFrom,
});

async function chosenDashboards(
  domains: Domains,
  organizationId: string,
  ids: readonly string[],
): Promise<Dashboard[]> {
  if (ids.length === 0) return (await domains.dashboards.list(organizationId)).map(({ dashboard }) => dashboard);
  return Promise.all(ids.map(async (id) => JSON.parse((await domains.dashboards.get(organizationId, id)).json)));
}

/** One document, or several in the way that each format has for that. */
function joined(dashboards: readonly Dashboard[], isJson: boolean): string {
  if (isJson) return JSON.stringify(dashboards, null, 2);
  return dashboards.map((dashboard) => formatDashboardFile(dashboard, false)).join('\n---\n');
}

function readOne(path: string, world: World): { files: DashboardFile[] } | { mistakes: string[] } {
  try {
    return { files: parseDashboardFiles(world.readFile(path)) };
  } catch (error) {
    return { mistakes: listProblems(error) };
  }
}

/** Every mistake of every file at once. */
function readAll(paths: readonly string[], world: World): DashboardFile[] {
  const read = paths.map((path) => ({ path, ...readOne(path, world) }));
  const mistakes = read.flatMap((one) =>
    'mistakes' in one ? one.mistakes.map((mistake) => `${one.path}: ${mistake}`) : [],
  );
  if (mistakes.length > 0) throw new UsageError(mistakes);
  return read.flatMap((one) => ('files' in one ? one.files : []));
}
