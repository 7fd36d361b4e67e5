import type { Static } from 'typebox';
import { AppError } from '../../kernel/errors.ts';
import type { ServiceLog, SlowQueries } from '../../running/reconciliation/log-schema.ts';
import type { IdleStatus } from '../../running/reconciliation/schema.ts';
import { API_SETTINGS } from '../../server/settings/settings.ts';
import { defineCommand, UsageError } from '../command.ts';
import { describeFailure } from '../connection/api.ts';
import { argument, countRule, jsonOption, optionWithDefault, organizationOption } from '../parameters.ts';
import { findService, formatEndpoint, serviceArgument } from './services.ts';

const MAX_SHOWN_ERROR = 2000;
/** One line of a terminal. */
const MAX_SHOWN_QUERY = 100;

const queryService = defineCommand({
  name: 'service query',
  summary: 'Run a query at the endpoint of a service; an idle service wakes',
  settings: [...API_SETTINGS, 'servicePassword'],
  arguments: { service: serviceArgument, sql: argument('<sql>', 'The query') },
  options: { org: organizationOption, json: jsonOption },
  async run({ withApi, readConfig, readSecret, write, arguments: { service, sql }, options: { json } }) {
    const record = await withApi((api) => findService(api, service));
    const { name } = record;
    const url = formatEndpoint(record);
    if (url === undefined)
      throw new AppError('conflict', `${name} has no HTTP endpoint; only services that a driver runs have one`);
    const password = readConfig().servicePassword ?? (await readSecret(`Password of the user default of ${name}: `));
    if (password === undefined)
      throw new UsageError(['the password is missing: use --password-file, PILOTHOUSE_PASSWORD or a terminal']);
    const format = json ? '?default_format=JSON' : '?default_format=PrettyCompactMonoBlock';
    const response = await fetch(`${url}/${format}`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`default:${password}`).toString('base64')}` },
      body: sql,
    }).catch((cause: Error) => {
      const reason = describeFailure(cause);
      throw new AppError('unavailable', `${name} does not respond at ${url} (${reason}); is the server running?`, {
        cause,
      });
    });
    // Not a bad request: the command line was right, and the query failed.
    if (!response.ok) throw new AppError('conflict', (await response.text()).slice(0, MAX_SHOWN_ERROR).trim());
    for await (const chunk of response.body ?? []) await write(chunk as Uint8Array);
    return {};
  },
});

const showLogs = defineCommand({
  name: 'service logs',
  summary: 'Print the last lines of the error log of an embedded service',
  settings: API_SETTINGS,
  arguments: { service: serviceArgument },
  options: {
    org: organizationOption,
    lines: optionWithDefault('<number>', 'Number of lines', '100', countRule),
    json: jsonOption,
  },
  run: ({ withApi, arguments: { service }, options: { lines } }) =>
    withApi(async (api) => {
      const { id, name } = await findService(api, service);
      const options = { lines: 'lines' };
      const found = await api.call<Static<typeof ServiceLog>>(`/services/${id}/logs`, { query: { lines }, options });
      if (found.reason !== undefined) throw new AppError('conflict', found.reason);
      return {
        json: found.lines,
        lines: found.lines,
        notes: found.lines.length === 0 ? [`${name} has logged no errors.`] : [],
      };
    }),
});

const showSlowQueries = defineCommand({
  name: 'service slow-queries',
  summary: 'Print the slowest queries of the last 24 hours of an embedded service',
  settings: API_SETTINGS,
  arguments: { service: serviceArgument },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi, arguments: { service } }) =>
    withApi(async (api) => {
      const { id, name } = await findService(api, service);
      const { queries, reason } = await api.call<Static<typeof SlowQueries>>(`/services/${id}/slowQueries`);
      if (reason !== undefined) throw new AppError('conflict', reason);
      return {
        json: queries,
        table: {
          header: ['STARTED', 'MS', 'ROWS READ', 'MEMORY MB', 'QUERY'],
          rows: queries.map(({ startedAt, durationMs, readRows, memoryBytes, query }) => [
            startedAt,
            String(durationMs),
            String(readRows),
            (memoryBytes / 1e6).toFixed(1),
            query.replaceAll(/\s+/g, ' ').slice(0, MAX_SHOWN_QUERY),
          ]),
        },
        notes: queries.length === 0 ? [`${name} has run no queries in the last 24 hours.`] : [],
      };
    }),
});

type Idle = Static<typeof IdleStatus>;

const showIdle = defineCommand({
  name: 'service idle',
  summary: 'Print why a service is not idle and what woke it',
  settings: API_SETTINGS,
  arguments: { service: serviceArgument },
  options: { org: organizationOption, json: jsonOption },
  async run({ findServer, withApi, arguments: { service } }) {
    if (!(await findServer()))
      throw new UsageError(['only the running server knows its queries: use --url, PILOTHOUSE_URL or a profile']);
    return withApi(async (api) => {
      const { id, name } = await findService(api, service);
      const status = await api.call<Idle>(`/services/${id}/idle`);
      return { json: status, lines: formatIdle(name, status) };
    });
  },
});

function formatIdle(name: string, { state, idleAt, blockers, lastWake }: Idle): string[] {
  const wake = lastWake && `Last woken by a ${lastWake.cause} at ${lastWake.at}${formatOrigin(lastWake)}.`;
  return [
    `${name} is ${state}.`,
    ...blockers.map(({ detail }) => `Not idle: ${detail}.`),
    ...(idleAt ? [`Idles at ${idleAt} at the earliest.`] : []),
    ...(wake ? [wake] : []),
  ];
}

const formatOrigin = ({ address, userAgent }: NonNullable<Idle['lastWake']>): string =>
  [address && ` from ${address}`, userAgent && ` (${userAgent})`].filter(Boolean).join('');

export const serviceQueryCommands = [queryService, showIdle, showLogs, showSlowQueries];
