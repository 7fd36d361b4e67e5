import { ALL_SETTINGS } from '../../server/settings/settings.ts';
import { defineCommand } from '../command.ts';
import { jsonOption } from '../parameters.ts';
import type { CheckResult } from './check-result.ts';
import { runChecks } from './checks.ts';

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Check the settings, files, store, engine, ports and clock, and print a remedy for each failure',
  settings: ALL_SETTINGS,
  options: { json: jsonOption },
  async run(context) {
    const results = await runChecks(context);
    const failed = results.filter(({ isFine }) => !isFine).length;
    return {
      json: results,
      lines: results.flatMap(formatResult),
      error: failed > 0 ? new Error(`${failed} of ${results.length} checks failed`) : undefined,
    };
  },
});

const formatLine = (first: string, second: string, text: string): string =>
  `${first.padEnd(4)}  ${second.padEnd(10)}  ${text}`;

const formatResult = (result: CheckResult): string[] =>
  result.isFine
    ? [formatLine('ok', result.check, result.text)]
    : [formatLine('FAIL', result.check, result.text), formatLine('', 'remedy', result.remedy)];
