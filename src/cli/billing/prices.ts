import { systemClock } from '../../kernel/time/clock.ts';
import { toUtcDay } from '../../kernel/time/days.ts';
import { METERS } from '../../management/billing/meter.ts';
import type { PriceBook } from '../../management/billing/prices/price-book.ts';
import { parsePriceFile } from '../../management/billing/prices/price-file.ts';
import { STORE_SETTINGS } from '../../server/settings/settings.ts';
import { defineCommand, readInputFile } from '../command.ts';
import { argument, dayRule, jsonOption, option } from '../parameters.ts';

const showPrices = defineCommand({
  name: 'prices show',
  summary: 'Show the prices that apply on a day',
  settings: STORE_SETTINGS,
  options: { date: option('<date>', 'Day, YYYY-MM-DD; today if omitted', dayRule), json: jsonOption },
  run: ({ withDomains, options: { date = toUtcDay(systemClock.now()) } }) =>
    withDomains(async (domains) => {
      const book = await domains.prices.getForDay(date);
      return {
        json: book,
        notes: [`Prices in CHC for usage on ${date}: version ${book.version}, effective from ${book.effectiveFrom}.`],
        table: { header: ['METER', 'ENTITY', 'TIER', 'REGION', 'PRICE', 'PER'], rows: formatPrices(book) },
      };
    }),
});

const setPrices = defineCommand({
  name: 'prices set',
  summary: 'Add a version of the price book, effective from a day on',
  settings: STORE_SETTINGS,
  arguments: { file: argument('<file>', 'Price file with all prices, YAML or JSON') },
  options: { json: jsonOption },
  async run(context) {
    const file = parsePriceFile(readInputFile(context, context.arguments.file));
    return context.withDomains(async (domains) => {
      const book = await domains.prices.set(context.actor('prices'), file);
      return { json: book, lines: [`Version ${book.version} is effective from ${book.effectiveFrom}.`] };
    });
  },
});

export const priceCommands = [showPrices, setPrices];

const formatPrices = ({ prices }: PriceBook): string[][] =>
  prices.map(({ meter, entityType, tier, region, price }) => [
    meter,
    entityType ?? 'any',
    tier ?? 'any',
    region ?? 'any',
    price,
    METERS[meter].pricingUnit.replace(/s$/, ''),
  ]);
