import { formatYaml } from '../../kernel/schemas/yaml-text.ts';
import { listOmittedSecrets } from '../../operations/fleet/export.ts';
import { parseFleetFile } from '../../operations/fleet/file.ts';
import type { Step } from '../../operations/fleet/plan.ts';
import type { Progress } from '../../operations/fleet/progress.ts';
import { STORE_SETTINGS } from '../../server/settings/settings.ts';
import { defineCommand, readInputFile } from '../command.ts';
import { argument, dryRunOption, flag, jsonOption } from '../parameters.ts';

export const apply = defineCommand({
  name: 'apply',
  summary: 'Apply a fleet file to the store',
  settings: STORE_SETTINGS,
  mayCreateStore: true,
  arguments: { file: argument('<file>', 'Fleet file, YAML or JSON') },
  options: {
    dryRun: dryRunOption,
    force: flag('Overwrite changes made through the API since the file was last applied'),
    prune: flag('Remove resources that an earlier version of the file declared'),
    json: jsonOption,
  },
  async run(context) {
    const { dryRun } = context.options;
    const file = parseFleetFile(readInputFile(context, context.arguments.file));
    return context.withDomains(async ({ fleet }) => {
      const { steps, warnings } = await fleet.apply(file, context.actor('apply'), {
        ...context.options,
        onProgress: context.hasTerminal ? (progress) => context.showProgress(formatProgress(progress)) : undefined,
      });
      context.showProgress('');
      return { json: { dryRun, steps, warnings }, lines: formatPlan(steps, dryRun), warnings };
    });
  },
});

export const exportFleet = defineCommand({
  name: 'export',
  summary: 'Print the configuration as a fleet file, with hashes instead of credentials; to copy usage too, use backup',
  settings: STORE_SETTINGS,
  options: { json: flag('Print JSON instead of YAML') },
  run: ({ withDomains }) =>
    withDomains(async ({ fleet }) => {
      const file = await fleet.export();
      const lines = [formatYaml(file).trimEnd()];
      return { json: file, lines, warnings: listOmittedSecrets(file) };
    }),
});

const STAGES: Record<Progress['stage'], { verb: string; noun: string }> = {
  plan: { verb: 'Planned', noun: 'resources' },
  store: { verb: 'Stored', noun: 'resources' },
  record: { verb: 'Recorded', noun: 'activities' },
};

function formatProgress({ stage, done, total }: Progress): string {
  const { verb, noun } = STAGES[stage];
  return `${verb} ${done.toLocaleString('en-US')} of ${total.toLocaleString('en-US')} ${noun}`;
}

const SIGNS = { add: '+', change: '~', remove: '-', unchanged: '=' };
const MAX_LISTED_COSTS = 5;

function formatPlan(steps: readonly Step[], isDryRun: boolean): string[] {
  const changes = steps.filter(({ action }) => action !== 'unchanged');
  const costs = changes.filter(({ kind }) => kind === 'cost');
  const listedCosts = new Set(costs.slice(0, MAX_LISTED_COSTS));
  const listed = changes.filter((step) => step.kind !== 'cost' || listedCosts.has(step));
  const lines = listed.flatMap((step) => [
    `${SIGNS[step.action]} ${step.kind} ${step.name}`,
    ...(step.action === 'change' ? formatFields(step) : []),
  ]);
  if (costs.length > MAX_LISTED_COSTS) lines.push(`  … and ${costs.length - MAX_LISTED_COSTS} more cost records`);
  const count = (action: Step['action']) => steps.filter((step) => step.action === action).length;
  const summary = `${count('add')} added, ${count('change')} changed, ${count('remove')} removed, ${count('unchanged')} unchanged`;
  return [...lines, formatSummary(summary, isDryRun)];
}

export const formatSummary = (summary: string, isDryRun: boolean): string =>
  isDryRun ? `Plan: ${summary}. Nothing was stored.` : `Applied: ${summary}.`;

function formatFields({ before = {}, after = {} }: Step): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  if (names.length === 0) return ['    credentials'];
  return names.map((name) => `    ${name}: ${formatValue(before[name])} → ${formatValue(after[name])}`);
}

function formatValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'none';
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
