import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import pino from 'pino';
import { renderAggregationReference } from '../charts/aggregation-reference.ts';
import { systemClock } from '../kernel/clock.ts';
import { KEY_ROLES } from '../kernel/roles.ts';
import { startServer } from '../server.ts';
import { configOf, type World } from './command.ts';

interface Operation {
  method: string;
  path: string;
  summary: string;
  description: string;
  isOpen: boolean;
}

/** Writes what is generated from the routes: the OpenAPI document, the table of roles and the table of aggregations. For maintainers; hidden from help. */
export function referenceCommand(program: Command, world: World): void {
  program
    .command('reference', { hidden: true })
    .requiredOption('--write <directory>', 'where to write openapi.json, roles.md and aggregations.md')
    .action(async ({ write }) => {
      const { openapi, roles } = await renderReference(world);
      world.writeFile(join(write, 'openapi.json'), openapi);
      world.writeFile(join(write, 'roles.md'), roles);
      world.writeFile(join(write, 'aggregations.md'), renderAggregationReference());
    });
}

async function renderReference(world: World): Promise<{ openapi: string; roles: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-reference-'));
  const config = configOf({}, { ...world, environment: {} }, { port: '0', dataDirectory: directory });
  const server = await startServer({ config, clock: systemClock, log: pino({ level: 'silent' }), access() {} });
  try {
    const document = server.document();
    return { openapi: `${JSON.stringify(document, null, 2)}\n`, roles: roleTable(operationsIn(document)) };
  } finally {
    await server.close();
    rmSync(directory, { recursive: true });
  }
}

function operationsIn(document: object): Operation[] {
  const { paths = {} } = document as {
    paths?: Record<string, Record<string, { summary: string; description?: string; security?: unknown[] }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary, description = '', security = [] }]) => ({
      method: method.toUpperCase(),
      path,
      summary,
      description,
      isOpen: security.length === 0,
    })),
  );
}

function roleTable(operations: readonly Operation[]): string {
  const management = operations.filter(({ path }) => path.startsWith('/v1'));
  const allowed = (description: string) => /Roles: (.*)\.$/.exec(description)?.[1]?.split(', ') ?? [];
  const rows = management.map(({ method, path, summary, description }) => {
    const cells = KEY_ROLES.map((role) => (allowed(description).includes(role) ? 'yes' : '403'));
    return `| ${summary} | \`${method} ${path}\` | ${cells.join(' | ')} |`;
  });
  return [
    '# Who may do what',
    '',
    'Generated from the routes by `npm run docs`. A key has one or more of these roles; one that admits the operation is enough.',
    'Dashboard operations (`/api/v2`) take a dashboard token instead of a key: a read-write one where they change something.',
    '',
    `| operation | call | ${KEY_ROLES.join(' | ')} |`,
    `|---|---|${KEY_ROLES.map(() => '---').join('|')}|`,
    ...rows,
    '',
  ].join('\n');
}
