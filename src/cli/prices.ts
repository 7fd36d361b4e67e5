import type { Command } from 'commander';
import { METERS } from '../billing/meter.ts';
import type { PriceBook } from '../billing/prices/price-book.ts';
import { parsePriceFile } from '../billing/prices/price-file.ts';
import { parseDate, systemClock } from '../kernel/clock.ts';
import { type Day, toUtcDay } from '../kernel/days.ts';
import { localActor, STORE_SETTINGS, table, UsageError, type World, withDomains, withSettings } from './command.ts';
import { readFleet } from './serve.ts';

export function priceCommands(program: Command, world: World): void {
  const prices = program.command('prices').description('the price book');
  const command = (name: string, description: string) =>
    withSettings(prices.command(name).description(description).option('--json', 'as JSON'), STORE_SETTINGS);

  command('show', 'show the prices of a day')
    .option('--date <date>', 'YYYY-MM-DD; today when left out')
    .action(async (options) => {
      const day = options.date === undefined ? toUtcDay(systemClock.now()) : dayFrom('--date', options.date);
      await withDomains(options, world, async (domains) => {
        const book = await domains.prices.getForDay(day);
        if (options.json) return world.print(JSON.stringify(book));
        world.say(`Version ${book.version}, in effect from ${book.effectiveFrom}; CHC, for usage on ${day}.`);
        for (const line of table(['METER', 'ENTITY', 'TIER', 'REGION', 'PRICE', 'FOR ONE OF'], rowsOf(book)))
          world.print(line);
      });
    });

  command('set', 'set the prices from a day on; the file holds the whole list')
    .argument('<file>', 'price file, YAML or JSON')
    .action(async (path, options) => {
      const file = parsePriceFile(readFleet(world, path));
      await withDomains(options, world, async (domains) => {
        const book = await domains.prices.set(localActor(world, 'prices'), file);
        if (options.json) return world.print(JSON.stringify(book));
        world.print(`Version ${book.version} is in effect from ${book.effectiveFrom}.`);
      });
    });
}

const rowsOf = ({ prices }: PriceBook): string[][] =>
  prices.map(({ meter, entityType, tier, region, price }) => [
    meter,
    entityType ?? 'any',
    tier ?? 'any',
    region ?? 'any',
    price,
    METERS[meter].pricingUnit.replace(/s$/, ''),
  ]);

export function dayFrom(flag: string, text: string): Day {
  if (parseDate(text) === undefined) throw new UsageError([`${flag} must be a date (YYYY-MM-DD), not "${text}"`]);
  return text;
}
