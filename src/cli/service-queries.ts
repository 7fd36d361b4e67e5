import { getServiceDirectory } from '../drivers/embedded/directory.ts';
import { readLog } from '../drivers/embedded/log-file.ts';
import { getServicesDirectory } from '../drivers.ts';
import { AppError } from '../kernel/errors.ts';
import { INVALID, STORE_SETTINGS } from '../settings.ts';
import { defineCommand, UsageError } from './command.ts';
import {
  anyText,
  argument,
  jsonOption,
  optionWithDefault,
  organizationOption,
  requiredOption,
  type ValueRule,
} from './parameters.ts';
import { connectToServer, keyOption, urlOption } from './server-client.ts';
import { getService, serviceArgument } from './services.ts';
import { escapeControls } from './terminal-text.ts';

const MAX_SHOWN_ERROR = 2000;

const queryService = defineCommand({
  name: 'service query',
  summary: 'Run a query at the endpoint of a service; an idle service wakes',
  settings: STORE_SETTINGS,
  arguments: { service: serviceArgument, sql: argument('<sql>', 'The query') },
  options: {
    org: organizationOption,
    password: requiredOption('<password>', 'Password of the user default', { ...anyText, isSecret: true }),
    json: jsonOption,
  },
  run: ({ withOrganization, write, arguments: { service, sql }, options: { password, json } }) =>
    withOrganization(async (organization, domains) => {
      const { name, observed } = await getService(organization, domains, service);
      if (!observed.endpoint)
        throw new AppError('conflict', `${name} has no HTTP endpoint; only services that a driver runs have one`);
      const { host, port } = observed.endpoint;
      const format = json ? '?default_format=JSON' : '?default_format=PrettyCompactMonoBlock';
      const response = await fetch(`http://${host.includes(':') ? `[${host}]` : host}:${port}/${format}`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`default:${password}`).toString('base64')}` },
        body: sql,
      }).catch((cause: Error) => {
        throw new AppError('unavailable', `${name} does not answer at ${host}:${port}; is the server running?`, {
          cause,
        });
      });
      if (!response.ok) throw new AppError('bad_request', (await response.text()).slice(0, MAX_SHOWN_ERROR).trim());
      for await (const chunk of response.body ?? []) await write(chunk as Uint8Array);
      return {};
    }),
});

const countRule: ValueRule<number> = {
  rule: 'must be a whole number from 1 to 10000',
  parse: (text) => (/^[1-9]\d{0,3}$|^10000$/.test(text) ? Number(text) : INVALID),
};

const showLogs = defineCommand({
  name: 'service logs',
  summary: 'Print the last lines of the error log of an embedded service',
  settings: STORE_SETTINGS,
  arguments: { service: serviceArgument },
  options: {
    org: organizationOption,
    lines: optionWithDefault('<number>', 'Number of lines', '100', countRule),
    json: jsonOption,
  },
  run: ({ withOrganization, readConfig, arguments: { service }, options: { lines } }) =>
    withOrganization(async (organization, domains) => {
      const { id, name, driver } = await getService(organization, domains, service);
      if (driver !== 'embedded')
        throw new AppError('conflict', `${name} has the driver ${driver}; only embedded services have a log here`);
      const { log } = getServiceDirectory(getServicesDirectory(readConfig()), id);
      const found = readLog(log).slice(-lines);
      return {
        json: found,
        lines: found.map(escapeControls),
        notes: found.length === 0 ? [`${name} has logged no errors.`] : [],
      };
    }),
});

interface IdleStatus {
  state: string;
  idleTimeoutMinutes: number;
  idleAt?: string;
  blockers: { detail: string }[];
  lastWake?: { at: string; cause: string; userAgent?: string; address?: string };
}

const showIdle = defineCommand({
  name: 'service idle',
  summary: 'Print why a service is not idle and what woke it',
  settings: STORE_SETTINGS,
  arguments: { service: serviceArgument },
  options: { org: organizationOption, url: urlOption('The running server'), key: keyOption, json: jsonOption },
  async run({ withOrganization, arguments: { service }, options: { url, key } }) {
    if (url === undefined || key === undefined)
      throw new UsageError(['--url and --key are required: only the running server knows its queries']);
    const { id, name } = await withOrganization((organization, domains) => getService(organization, domains, service));
    const call = await connectToServer(url, key);
    const status = (await call(`/services/${id}/idle`)) as IdleStatus;
    return { json: status, lines: formatIdle(name, status) };
  },
});

function formatIdle(name: string, { state, idleAt, blockers, lastWake }: IdleStatus): string[] {
  const wake = lastWake && `Last woken by a ${lastWake.cause} at ${lastWake.at}${formatOrigin(lastWake)}.`;
  return [
    `${name} is ${state}.`,
    ...blockers.map(({ detail }) => `Not idle: ${detail}.`),
    ...(idleAt ? [`Idles at ${idleAt} at the earliest.`] : []),
    ...(wake ? [wake] : []),
  ];
}

const formatOrigin = ({ address, userAgent }: NonNullable<IdleStatus['lastWake']>): string =>
  [address && ` from ${address}`, userAgent && ` (${userAgent})`].filter(Boolean).join('');

export const serviceQueryCommands = [queryService, showIdle, showLogs];
