import { isoSeconds } from '../../kernel/time/clock.ts';
import { ENGINE_SETTINGS, STORE_SETTINGS } from '../../server/settings/settings.ts';
import { defineCommand } from '../command.ts';
import { dryRunOption, jsonOption } from '../parameters.ts';

const adoptEngine = defineCommand({
  name: 'usage adopt-engine',
  summary: 'Continue with an engine that lacks usage events, without changing the ledger',
  settings: ENGINE_SETTINGS,
  defaults: { logLevel: 'warn' },
  options: { dryRun: dryRunOption, json: jsonOption },
  run: ({ withDomains, actor, options: { dryRun } }) =>
    withDomains(async ({ rating }) => {
      const adoption = await rating.adoptEngine(actor('usage'), { dryRun });
      const { identity, days, missing } = adoption;
      const entries = dryRun ? 0 : await rating.rateChanged();
      return {
        json: { ...adoption, entries },
        table: {
          header: ['ORGANIZATION', 'DAY', 'ENTITY', 'METER', 'IN THE ENGINE', 'MISSING'],
          rows: missing.map((one) => [
            one.organizationId,
            one.date,
            `${one.entityType} ${one.entityId}`,
            one.meter,
            one.metered,
            one.quantity,
          ]),
        },
        lines: [
          dryRun
            ? `Would bind the store to engine ${identity} and add ${missing.length} events for ${days} days.`
            : `Bound the store to engine ${identity}; added ${missing.length} events for ${days} days; ${entries} ledger entries changed.`,
        ],
      };
    }),
});

const confirmClock = defineCommand({
  name: 'usage confirm-clock',
  summary: 'Confirm the clock of the store after it jumped, so that days are locked again',
  settings: STORE_SETTINGS,
  defaults: { logLevel: 'warn' },
  options: { json: jsonOption },
  run: ({ withDomains, actor }) =>
    withDomains(async ({ lockClock }) => {
      const { now, passedAt } = await lockClock.confirm(actor('usage'));
      const last = passedAt === undefined ? null : isoSeconds(passedAt);
      return {
        json: { confirmed: isoSeconds(now), lastPass: last },
        lines: [
          `Confirmed ${isoSeconds(now)} as the current time; the last confirmed time was ${last ?? 'never stored'}.`,
        ],
      };
    }),
});

export const usageEngineCommands = [adoptEngine, confirmClock];
