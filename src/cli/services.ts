import type { Domains } from '../domains.ts';
import { DRIVERS } from '../drivers/driver.ts';
import type { Command as StateCommand } from '../drivers/simulated.ts';
import { systemClock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import { MAX_PAGE_SIZE } from '../kernel/page.ts';
import type { Organization } from '../organizations/organization.ts';
import { ALL_REGIONS, PROVIDERS } from '../services/regions.ts';
import { toServiceRecord } from '../services/schema.ts';
import type { Service } from '../services/service.ts';
import { INVALID, STORE_SETTINGS } from '../settings.ts';
import { type Command, defineCommand } from './command.ts';
import {
  argument,
  flag,
  jsonOption,
  nameRule,
  oneOf,
  option,
  optionWithDefault,
  organizationOption,
  requiredOption,
  type ValueRule,
} from './parameters.ts';

export const serviceArgument = argument('<service>', 'Id or name of the service');

const numberRule: ValueRule<number> = {
  rule: 'must be a number',
  parse: (text) => (/^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : INVALID),
};

const number = (help: string) => option('<number>', help, numberRule);

const toRecord = (service: Readonly<Service>) => toServiceRecord(service, systemClock);

/** By id, or by a name that only one service has. */
export async function getService(
  { id: organizationId }: Organization,
  { services }: Domains,
  wanted: string,
): Promise<Readonly<Service>> {
  const query = { sort: 'name', limit: MAX_PAGE_SIZE, search: wanted, after: undefined } as const;
  const { items } = await services.listPage(organizationId, query);
  const found = items.filter(({ id, name }) => id === wanted.toLowerCase() || name === wanted);
  const [first] = found;
  if (first && found.length === 1) return first;
  if (found.length === 0) return await services.get(organizationId, wanted.toLowerCase());
  throw new AppError('conflict', `${found.length} services are named ${wanted}; use the id of one of them`);
}

const listServices = defineCommand({
  name: 'service list',
  summary: 'List database services',
  settings: STORE_SETTINGS,
  options: { org: organizationOption, json: jsonOption },
  run: ({ withOrganization }) =>
    withOrganization(async (organization, domains) => {
      const services = await domains.services.list(organization.id);
      const records = services.map(toRecord);
      const rows = services.map(({ id, name, driver, scaling }, index) => [
        id,
        name,
        driver,
        records[index]?.status?.state ?? records[index]?.state ?? '',
        String(scaling.numReplicas),
        `${scaling.minReplicaMemoryGb}–${scaling.maxReplicaMemoryGb} GB`,
        scaling.idleScaling ? `after ${scaling.idleTimeoutMinutes} min` : 'never',
        formatEndpoint(records[index]),
      ]);
      const header = ['ID', 'NAME', 'DRIVER', 'STATE', 'REPLICAS', 'MEMORY PER REPLICA', 'SCALE TO ZERO', 'ENDPOINT'];
      return { json: records, table: { header, rows } };
    }),
});

function formatEndpoint(record: ReturnType<typeof toRecord> | undefined): string {
  const endpoint = record?.endpoints?.find(({ protocol }) => protocol === 'http');
  return endpoint ? `http://${endpoint.host}:${endpoint.port}` : '';
}

const getOne = defineCommand({
  name: 'service get',
  summary: 'Print a service',
  settings: STORE_SETTINGS,
  arguments: { service: serviceArgument },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withOrganization, arguments: { service } }) =>
    withOrganization(async (organization, domains) => {
      const record = toRecord(await getService(organization, domains, service));
      return { json: record, lines: JSON.stringify(record, undefined, 2).split('\n') };
    }),
});

const createOne = defineCommand({
  name: 'service create',
  summary: 'Create a service and print its password; it is shown only once',
  settings: [...STORE_SETTINGS, 'maxServices', 'defaultDriver'],
  options: {
    org: organizationOption,
    name: requiredOption('<name>', 'Name of the service', nameRule),
    driver: option('<driver>', `What runs it: ${DRIVERS.join(', ')}`, oneOf(DRIVERS)),
    provider: optionWithDefault('<provider>', 'Cloud provider in its record', 'aws', oneOf(PROVIDERS)),
    region: optionWithDefault('<region>', 'Region in its record', 'us-east-1', oneOf(ALL_REGIONS)),
    replicas: number('Number of replicas'),
    minMemory: number('Minimum memory of one replica in GB'),
    maxMemory: number('Maximum memory of one replica in GB'),
    idleTimeout: number('Minutes without queries before it idles'),
    json: jsonOption,
  },
  run: ({ withOrganization, actor, options }) =>
    withOrganization(async (organization, { serviceLifecycle }) => {
      const { name, driver, provider, region, replicas, minMemory, maxMemory, idleTimeout } = options;
      const { service, password } = await serviceLifecycle.create(actor(), organization.id, {
        name,
        driver,
        provider,
        region,
        numReplicas: replicas,
        minReplicaMemoryGb: minMemory,
        maxReplicaMemoryGb: maxMemory,
        idleTimeoutMinutes: idleTimeout,
      });
      return {
        json: { service: toRecord(service), password },
        notes: [`Created service ${name}, ${service.id}. The password of its user default is shown only once.`],
        lines: [password],
      };
    }),
});

const startOne = defineCommand({
  name: 'service start',
  summary: 'Start a stopped service',
  settings: [...STORE_SETTINGS, 'simulatedTransitionMs'],
  arguments: { service: serviceArgument },
  options: {
    org: organizationOption,
    empty: flag('If the data directory of an embedded service is missing, start it without its data'),
    json: jsonOption,
  },
  run: ({ withOrganization, actor, arguments: { service }, options: { empty } }) =>
    withOrganization((organization, domains) =>
      sendCommand(organization, domains, service, (id) =>
        domains.serviceLifecycle.command(actor(), organization.id, id, 'start', { allowEmpty: empty }),
      ),
    ),
});

async function sendCommand(
  organization: Organization,
  domains: Domains,
  wanted: string,
  send: (id: string) => Promise<Readonly<Service>>,
) {
  const after = await send((await getService(organization, domains, wanted)).id);
  return { json: toRecord(after), lines: [`${after.name} is ${toRecord(after).state}.`] };
}

const commandService = (verb: string, command: StateCommand, summary: string): Command =>
  defineCommand({
    name: `service ${verb}`,
    summary,
    settings: [...STORE_SETTINGS, 'simulatedTransitionMs'],
    arguments: { service: serviceArgument },
    options: { org: organizationOption, json: jsonOption },
    run: ({ withOrganization, actor, arguments: { service } }) =>
      withOrganization((organization, domains) =>
        sendCommand(organization, domains, service, (id) =>
          domains.serviceLifecycle.command(actor(), organization.id, id, command),
        ),
      ),
  });

const scaleOne = defineCommand({
  name: 'service scale',
  summary: 'Change the size of a service and when it idles',
  settings: STORE_SETTINGS,
  arguments: { service: serviceArgument },
  options: {
    org: organizationOption,
    replicas: number('Number of replicas'),
    minMemory: number('Minimum memory of one replica in GB'),
    maxMemory: number('Maximum memory of one replica in GB'),
    idle: option('<on|off>', 'Whether it idles without queries', oneOf(['on', 'off'])),
    idleTimeout: number('Minutes without queries before it idles'),
    json: jsonOption,
  },
  run: ({ withOrganization, actor, arguments: { service }, options }) =>
    withOrganization(async (organization, domains) => {
      const { id } = await getService(organization, domains, service);
      const { replicas, minMemory, maxMemory, idle, idleTimeout } = options;
      const after = await domains.services.rescale(actor(), organization.id, id, {
        numReplicas: replicas,
        minReplicaMemoryGb: minMemory,
        maxReplicaMemoryGb: maxMemory,
        idleScaling: idle === undefined ? undefined : idle === 'on',
        idleTimeoutMinutes: idleTimeout,
      });
      const { numReplicas, minReplicaMemoryGb, maxReplicaMemoryGb } = after.scaling;
      const size = `${numReplicas} × ${minReplicaMemoryGb}–${maxReplicaMemoryGb} GB`;
      return { json: toRecord(after), lines: [`${after.name}: ${size}.`] };
    }),
});

const deleteOne = defineCommand({
  name: 'service delete',
  summary: 'Delete a stopped service and its data; its costs stay',
  settings: STORE_SETTINGS,
  arguments: { service: serviceArgument },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withOrganization, actor, arguments: { service } }) =>
    withOrganization(async (organization, domains) => {
      const { id, name } = await getService(organization, domains, service);
      await domains.serviceLifecycle.remove(actor(), organization.id, id);
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
