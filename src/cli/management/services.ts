import type { Static } from 'typebox';
import { AppError } from '../../kernel/errors.ts';
import { isUuid } from '../../kernel/ids.ts';
import { MAX_PAGE_SIZE } from '../../kernel/page.ts';
import type { Organization } from '../../management/organizations/organization.ts';
import { DRIVER_NAMES } from '../../management/services/driver.ts';
import { PROVIDERS } from '../../management/services/regions.ts';
import type { ServiceRecord as ServiceRecordSchema } from '../../management/services/schema.ts';
import type { Service } from '../../management/services/service.ts';
import type { Command as StateCommand } from '../../management/services/simulated.ts';
import type { Domains } from '../../server/domains.ts';
import { API_SETTINGS } from '../../server/settings/settings.ts';
import { type Api, type Command, defineCommand } from '../command.ts';
import {
  anyText,
  argument,
  flag,
  jsonOption,
  numberRule,
  oneOf,
  option,
  optionWithDefault,
  organizationOption,
  requiredOption,
} from '../parameters.ts';

type ServiceRecord = Static<typeof ServiceRecordSchema>;

export const serviceArgument = argument('<service>', 'Id or name of the service');

const number = (help: string) => option('<number>', help, numberRule);

/** The options of the members of a request. */
const OPTIONS = {
  name: 'name',
  driver: 'driver',
  provider: 'provider',
  region: 'region',
  backupId: 'backup',
  numReplicas: 'replicas',
  minReplicaMemoryGb: 'minMemory',
  maxReplicaMemoryGb: 'maxMemory',
  idleScaling: 'idle',
  idleTimeoutMinutes: 'idleTimeout',
};

interface SizeOptions {
  replicas: number | undefined;
  minMemory: number | undefined;
  maxMemory: number | undefined;
  idle: string | undefined;
  idleTimeout: number | undefined;
}

const sizeOptions = {
  replicas: number('Number of replicas'),
  minMemory: number('Minimum memory of one replica in GB'),
  maxMemory: number('Maximum memory of one replica in GB'),
  idle: option('<on|off>', 'Whether it idles without queries', oneOf(['on', 'off'])),
  idleTimeout: number('Minutes without queries before it idles'),
};

const toScaling = ({ replicas, minMemory, maxMemory, idle, idleTimeout }: SizeOptions) => ({
  numReplicas: replicas,
  minReplicaMemoryGb: minMemory,
  maxReplicaMemoryGb: maxMemory,
  idleScaling: idle === undefined ? undefined : idle === 'on',
  idleTimeoutMinutes: idleTimeout,
});

/** For commands that need the store. By id, or by a name that only one service has. */
export async function getService(
  { id: organizationId }: Organization,
  { services }: Domains,
  wanted: string,
): Promise<Readonly<Service>> {
  const query = { sort: 'name', limit: MAX_PAGE_SIZE, search: wanted, after: undefined } as const;
  const { items } = await services.listPage(organizationId, query);
  return selectOne(items, wanted);
}

/** The same over the API. */
export async function findService(api: Api, wanted: string): Promise<ServiceRecord> {
  if (isUuid(wanted)) return api.call<ServiceRecord>(`/services/${wanted.toLowerCase()}`);
  const options = { search: '<service>' };
  return selectOne(await api.list<ServiceRecord>('/services', { query: { search: wanted }, options }), wanted);
}

function selectOne<T extends { id: string; name: string }>(all: readonly T[], wanted: string): T {
  const found = all.filter(({ id, name }) => id === wanted.toLowerCase() || name === wanted);
  const [first] = found;
  if (first && found.length === 1) return first;
  if (!first) throw new AppError('not_found', `service ${wanted} does not exist`);
  throw new AppError('conflict', `${found.length} services are named ${wanted}; use the id of one of them`);
}

const listServices = defineCommand({
  name: 'service list',
  summary: 'List database services',
  settings: API_SETTINGS,
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi }) =>
    withApi(async (api) => {
      const records = await api.list<ServiceRecord>('/services');
      const rows = records.map((record) => [
        record.id,
        record.name,
        record.driver,
        record.status?.state ?? record.state,
        record.shards === undefined ? String(record.numReplicas) : `${record.shards} × ${record.numReplicas}`,
        `${record.minReplicaMemoryGb}–${record.maxReplicaMemoryGb} GB`,
        record.idleScaling ? `after ${record.idleTimeoutMinutes} min` : 'never',
        formatEndpoint(record) ?? '',
      ]);
      const header = ['ID', 'NAME', 'DRIVER', 'STATE', 'REPLICAS', 'MEMORY PER REPLICA', 'SCALE TO ZERO', 'ENDPOINT'];
      return { json: records, table: { header, rows } };
    }),
});

/** The URL of the HTTP endpoint; undefined if the service has none. */
export function formatEndpoint({ endpoints = [] }: ServiceRecord): string | undefined {
  const endpoint = endpoints.find(({ protocol }) => protocol === 'http' || protocol === 'https');
  if (!endpoint) return undefined;
  const { protocol, host, port } = endpoint;
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const getOne = defineCommand({
  name: 'service get',
  summary: 'Print a service',
  settings: API_SETTINGS,
  arguments: { service: serviceArgument },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi, arguments: { service } }) =>
    withApi(async (api) => {
      const record = await findService(api, service);
      return { json: record, lines: JSON.stringify(record, undefined, 2).split('\n') };
    }),
});

const createOne = defineCommand({
  name: 'service create',
  summary: 'Create a service and print its password; it is shown only once',
  settings: [...API_SETTINGS, 'maxServices', 'defaultDriver'],
  options: {
    org: organizationOption,
    name: requiredOption('<name>', 'Name of the service', anyText),
    driver: option('<driver>', `What runs it: ${DRIVER_NAMES.join(', ')}`),
    provider: optionWithDefault('<provider>', `Cloud provider in its record: ${PROVIDERS.join(', ')}`, 'aws', anyText),
    region: optionWithDefault('<region>', 'Region in its record', 'us-east-1', anyText),
    backup: option('<id>', 'A backup whose data it starts with'),
    ...sizeOptions,
    json: jsonOption,
  },
  run: ({ withApi, options: { name, driver, provider, region, backup, ...size } }) =>
    withApi(async (api) => {
      const body = { name, driver, provider, region, backupId: backup, ...toScaling(size) };
      const created = await api.call<{ service: ServiceRecord; password: string }>('/services', {
        method: 'POST',
        body,
        options: OPTIONS,
      });
      const { service, password } = created;
      return {
        json: { service, password },
        notes: [`Created service ${name}, ${service.id}. The password of its user default is shown only once.`],
        lines: [password],
      };
    }),
});

const COMMAND_SETTINGS = [...API_SETTINGS, 'simulatedTransitionMs'] as const;

async function sendCommand(api: Api, service: string, body: { command: StateCommand; allowEmpty?: true | undefined }) {
  const { id } = await findService(api, service);
  const after = await api.call<ServiceRecord>(`/services/${id}/state`, {
    method: 'PATCH',
    body,
    options: { allowEmpty: 'empty' },
  });
  return { json: after, lines: [`${after.name} is ${after.state}.`] };
}

const startOne = defineCommand({
  name: 'service start',
  summary: 'Start a stopped service',
  settings: COMMAND_SETTINGS,
  arguments: { service: serviceArgument },
  options: {
    org: organizationOption,
    empty: flag('If the data directory of an embedded service is missing, start it without its data'),
    json: jsonOption,
  },
  run: ({ withApi, arguments: { service }, options: { empty } }) =>
    withApi((api) => sendCommand(api, service, { command: 'start', allowEmpty: empty || undefined })),
});

const commandService = (verb: string, command: StateCommand, summary: string): Command =>
  defineCommand({
    name: `service ${verb}`,
    summary,
    settings: COMMAND_SETTINGS,
    arguments: { service: serviceArgument },
    options: { org: organizationOption, json: jsonOption },
    run: ({ withApi, arguments: { service } }) => withApi((api) => sendCommand(api, service, { command })),
  });

const scaleOne = defineCommand({
  name: 'service scale',
  summary: 'Change the size of a service and when it idles',
  settings: API_SETTINGS,
  arguments: { service: serviceArgument },
  options: { org: organizationOption, ...sizeOptions, json: jsonOption },
  run: ({ withApi, arguments: { service }, options }) =>
    withApi(async (api) => {
      const { id } = await findService(api, service);
      const after = await api.call<ServiceRecord>(`/services/${id}/replicaScaling`, {
        method: 'PATCH',
        body: toScaling(options),
        options: OPTIONS,
      });
      const { name, numReplicas, minReplicaMemoryGb, maxReplicaMemoryGb } = after;
      return { json: after, lines: [`${name}: ${numReplicas} × ${minReplicaMemoryGb}–${maxReplicaMemoryGb} GB.`] };
    }),
});

const deleteOne = defineCommand({
  name: 'service delete',
  summary: 'Delete a stopped service and its data; its costs stay, and its backups are kept until their retention ends',
  settings: API_SETTINGS,
  arguments: { service: serviceArgument },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi, arguments: { service } }) =>
    withApi(async (api) => {
      const { id, name } = await findService(api, service);
      await api.call(`/services/${id}`, { method: 'DELETE' });
      return { json: { id, name }, lines: [`Deleted service ${name}.`] };
    }),
});

export const serviceCommands = [
  listServices,
  getOne,
  createOne,
  startOne,
  commandService('stop', 'stop', 'Stop a service'),
  commandService('awake', 'awake', 'Wake an idle service'),
  scaleOne,
  deleteOne,
];
