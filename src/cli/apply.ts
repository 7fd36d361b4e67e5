import type { Command } from 'commander';
import { stringify } from 'yaml';
import { parseFleetFile } from '../fleet/file.ts';
import type { Step } from '../fleet/plan.ts';
import { localActor, STORE_SETTINGS, type World, withDomains, withSettings } from './command.ts';
import { readFleet } from './serve.ts';

export function applyCommand(program: Command, world: World): void {
  withSettings(
    program
      .command('apply')
      .argument('<file>', 'fleet file, YAML or JSON')
      .description('make the store match a fleet file'),
    STORE_SETTINGS,
  )
    .option('--dry-run', 'only print the plan')
    .option('--force', 'also undo what the API changed since the file was last applied')
    .option('--prune', 'remove what an earlier version of the file declared and this one does not')
    .option('--json', 'print the plan as JSON')
    .action(async (path, options) => {
      const file = parseFleetFile(readFleet(world, path));
      await withDomains(options, world, async ({ fleet }) => {
        const { steps, warnings } = await fleet.apply(file, localActor(world, 'apply'), options);
        for (const warning of warnings) world.say(`warning: ${warning}`);
        if (options.json) world.print(JSON.stringify({ dryRun: options.dryRun === true, steps, warnings }));
        else for (const line of planLines(steps, options.dryRun === true)) world.print(line);
      });
    });
}

export function exportCommand(program: Command, world: World): void {
  withSettings(
    program.command('export').description('print the whole store as a fleet file; credentials as hashes'),
    STORE_SETTINGS,
  )
    .option('--json', 'as JSON instead of YAML')
    .action(async (options) => {
      await withDomains(options, world, async ({ fleet }) => {
        const file = await fleet.export();
        world.print(
          options.json
            ? JSON.stringify(file)
            : stringify(file, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd(),
        );
      });
    });
}

const SIGNS = { add: '+', change: '~', remove: '-', unchanged: '=' };
const LISTED_COSTS = 5;

function planLines(steps: readonly Step[], isDryRun: boolean): string[] {
  const changing = steps.filter(({ action }) => action !== 'unchanged');
  const costs = changing.filter(({ kind }) => kind === 'cost');
  const listed = changing.filter((step) => step.kind !== 'cost' || costs.indexOf(step) < LISTED_COSTS);
  const lines = listed.flatMap((step) => [
    `${SIGNS[step.action]} ${step.kind} ${step.name}`,
    ...(step.action === 'change' ? fieldLines(step) : []),
  ]);
  if (costs.length > LISTED_COSTS) lines.push(`  … and ${costs.length - LISTED_COSTS} more cost records`);
  const count = (action: Step['action']) => steps.filter((step) => step.action === action).length;
  const summary = `${count('add')} added, ${count('change')} changed, ${count('remove')} removed, ${count('unchanged')} unchanged`;
  return [...lines, isDryRun ? `Plan: ${summary}. Nothing was stored.` : `Applied: ${summary}.`];
}

function fieldLines({ before = {}, after = {} }: Step): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  if (names.length === 0) return ['    credentials'];
  return names.map((name) => `    ${name}: ${shown(before[name])} → ${shown(after[name])}`);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'none';
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
