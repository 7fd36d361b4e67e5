import { AppError } from '../../kernel/errors.ts';
import { chcFromMicros, formatChc } from '../../kernel/numbers/money.ts';
import type { Service } from '../../management/services/service.ts';
import { MAX_REPLAY_DAYS, type ReplayedVariant } from '../../running/autoscaling/replay/replays.ts';
import { PROFILES } from '../../running/autoscaling/replay/simulated-load.ts';
import type { Domains } from '../../server/domains.ts';
import { INVALID, STORE_SETTINGS } from '../../server/settings/settings.ts';
import { defineCommand, UsageError } from '../command.ts';
import {
  argument,
  jsonOption,
  oneOf,
  option,
  optionWithDefault,
  organizationOption,
  type ValueRule,
} from '../parameters.ts';

const daysRule: ValueRule<number> = {
  rule: `must be a whole number from 1 to ${MAX_REPLAY_DAYS}`,
  parse(text) {
    const days = Number(text);
    return Number.isInteger(days) && days >= 1 && days <= MAX_REPLAY_DAYS ? days : INVALID;
  },
};

const MAX_SEED = 2 ** 31 - 1;
const seedRule: ValueRule<number> = {
  rule: `must be a whole number from 0 to ${MAX_SEED}`,
  parse: (text) => (/^\d{1,10}$/.test(text) && Number(text) <= MAX_SEED ? Number(text) : INVALID),
};

const replayService = defineCommand({
  name: 'autoscale replay',
  summary: 'Replay the load of a service with several autoscaling settings, and compare cost and shortage',
  settings: STORE_SETTINGS,
  arguments: { service: argument('<service>', 'Id or name of the service') },
  options: {
    org: organizationOption,
    days: optionWithDefault('<days>', `Days up to now, at most ${MAX_REPLAY_DAYS}`, String(MAX_REPLAY_DAYS), daysRule),
    simulate: option('<profile>', `Simulated load instead of recorded load: ${PROFILES.join(', ')}`, oneOf(PROFILES)),
    seed: optionWithDefault('<number>', 'Seed of simulated load', '1', seedRule),
    json: jsonOption,
  },
  run: ({ withOrganization, arguments: { service: wanted }, options: { days, simulate, seed } }) =>
    withOrganization(async (organization, domains) => {
      const service = await getService(domains, organization.id, wanted);
      const simulated = simulate && { profile: simulate, seed };
      const variants = await domains.replays.compare(organization, service, { days, simulated });
      const load = simulated ? `simulated load (${simulated.profile}, seed ${seed})` : 'recorded load';
      return {
        json: {
          serviceId: service.id,
          days,
          ...(simulated && { simulated }),
          variants: variants.map(({ costMicros, ...variant }) => ({ ...variant, costCHC: chcFromMicros(costMicros) })),
        },
        notes: [`${service.name}: ${days} days of ${load}, at the prices of today.`],
        table: {
          header: ['SETTINGS', 'MEMORY PER REPLICA', 'REPLICAS', 'CHC', 'SHORT OF MEMORY', 'SHORT OF CPU', 'CHANGES'],
          rows: variants.map(toRow),
        },
      };
    }),
});

export const autoscaleCommands = [replayService];

const toRow = (variant: ReplayedVariant): string[] => [
  variant.variant,
  `${formatRange(variant.minMemoryGb, variant.maxMemoryGb)} GB`,
  formatRange(variant.minReplicas, variant.maxReplicas),
  formatChc(variant.costMicros),
  `${variant.shortMemoryMinutes} min`,
  `${variant.shortCpuMinutes} min`,
  String(variant.changes),
];

const formatRange = (min: number, max: number): string => (min === max ? String(min) : `${min}–${max}`);

/** By id or name. Names need not be unique; an ambiguous name is an error. */
async function getService({ services }: Domains, organizationId: string, wanted: string): Promise<Service> {
  const all = await services.list(organizationId);
  const found = all.filter(({ id, name }) => id === wanted.toLowerCase() || name === wanted);
  if (found.length > 1)
    throw new UsageError([`${found.length} services are named "${wanted}": ${found.map(({ id }) => id).join(', ')}`]);
  if (!found[0]) throw new AppError('not_found', `service ${wanted} does not exist`);
  return found[0];
}
