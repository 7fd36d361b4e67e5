import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { systemClock } from '../kernel/time/clock.ts';
import { type DocumentedOperation, renderRoleReference } from '../management/roles/role-reference.ts';
import { renderAggregationReference } from '../observability/charts/aggregation-reference.ts';
import { loadConfig } from '../server/settings/config.ts';
import { ALL_SETTINGS, SETTINGS, type Setting, type SettingName } from '../server/settings/settings.ts';
import { defineCommand, UsageError } from './command.ts';
import { anyText, requiredOption } from './parameters.ts';

/** Used by `npm run docs`. */
export const reference = defineCommand({
  name: 'reference',
  summary: 'Write the generated reference: openapi.json, roles.md, settings.md and aggregations.md',
  isHidden: true,
  options: { write: requiredOption('<directory>', 'Directory to write to', anyText) },
  async run({ writeFile, options: { write: directory } }) {
    const document = await readOpenApiDocument();
    writeFile(join(directory, 'openapi.json'), `${JSON.stringify(document, null, 2)}\n`);
    writeFile(join(directory, 'roles.md'), renderRoleReference(listOperations(document)));
    writeFile(join(directory, 'settings.md'), formatSettings());
    writeFile(join(directory, 'aggregations.md'), renderAggregationReference());
    return {};
  },
});

/** Starts a server on an empty store to collect its routes. */
async function readOpenApiDocument(): Promise<object> {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-reference-'));
  const flags = { port: '0', dataDirectory: directory };
  const loaded = loadConfig({ flags, environment: {}, readFile: () => '' });
  if ('problems' in loaded) throw new UsageError(loaded.problems);
  const { config } = loaded;
  const { startServer } = await import('../server/server.ts');
  const server = await startServer({ config, clock: systemClock, log: pino({ level: 'silent' }), access() {} });
  try {
    return server.document();
  } finally {
    await server.close();
    rmSync(directory, { recursive: true });
  }
}

function listOperations(document: object): DocumentedOperation[] {
  const { paths = {} } = document as {
    paths?: Record<string, Record<string, { operationId: string; summary: string; description?: string }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, summary, description = '' }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path,
      summary,
      description,
    })),
  );
}

function formatSettings(): string {
  return [
    '# Settings',
    '',
    'Generated from `src/server/settings/settings.ts` by `npm run docs`. Each setting is a flag of `pilothouse serve`, `demo` and `doctor`, an environment variable, and a line of the',
    '[config file](operating.md#settings); the flag takes precedence over the variable, and the variable over the file. A variable that ends in `_FILE` names a file that contains',
    'the value, and so does a flag that ends in `-file`, such as `--database-url-file`. [Operating](operating.md) explains how they are used.',
    '',
    ...formatTable(ALL_SETTINGS),
    '',
    '## Commands that use a server',
    '',
    'These are settings of the commands that [use a server](operating.md#commands-and-the-server).',
    '',
    ...formatTable((Object.keys(SETTINGS) as SettingName[]).filter((name) => !ALL_SETTINGS.includes(name))),
    '',
  ].join('\n');
}

const formatTable = (names: readonly SettingName[]): string[] => [
  '| flag | variable | default | description |',
  '|---|---|---|---|',
  ...names.map((name) => {
    const { flag, argument, variable, isSecret, fallback, fallbackHelp, help }: Setting = SETTINGS[name];
    const variables = isSecret ? `\`${variable}\`, \`${variable}_FILE\`` : `\`${variable}\``;
    const shown = fallback ? `\`${fallback}\`` : (fallbackHelp ?? '');
    return `| \`${flag} ${argument.replaceAll('|', '\\|')}\` | ${variables} | ${shown} | ${help} |`;
  }),
];
