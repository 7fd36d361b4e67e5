// node bench/year.mjs DATA: a year of metered costs, written directly to the store: costs in a fleet file have no quantities. In a
// process of its own, because the store stays open until its process ends.
import { join } from 'node:path';
import Database from 'libsql';
import { organizationId } from './fleet.mjs';

const DAY_MS = 86_400_000;
const PRICES = { compute: ['0.2985', 60n], publicDataTransfer: ['0.1152', 10n ** 9n] };

/** Writes records for every day from 2026-01-01 for the services of `benchFleet`, two meters each. The server must not be running. */
function fillYear(data, { entities, days }) {
  const db = new Database(join(data, 'state.db'));
  const cost = db.prepare(`INSERT INTO usage_costs
    (organization_id, date, entity_type, entity_id, entity_name, data_warehouse_id, service_id, locked, storage_micros,
     backup_micros, compute_micros, data_transfer_micros, initial_load_micros, public_data_transfer_micros,
     inter_region_tier1_micros, inter_region_tier2_micros, inter_region_tier3_micros, inter_region_tier4_micros)
    VALUES (?, ?, 'service', ?, ?, ?, ?, 1, 0, 0, ?, 0, 0, ?, 0, 0, 0, 0)`);
  const entry = db.prepare(`INSERT INTO usage_ledger
    (organization_id, date, entity_type, entity_id, meter, usage_date, quantity, price_version, unit_price, micros)
    VALUES (?, ?, 'service', ?, ?, ?, ?, 1, ?, ?)`);
  db.exec('BEGIN');
  for (let day = 0; day < days; day++) {
    const date = new Date(Date.UTC(2026, 0, 1) + day * DAY_MS).toISOString().slice(0, 10);
    for (let index = 0; index < entities; index++) {
      const id = `00000000-0000-4000-8000-${String(1000 + index).padStart(12, '0')}`;
      const warehouse = `00000000-0000-4000-8000-${String(100_000 + index).padStart(12, '0')}`;
      const quantities = {
        compute: 2880 + ((index * 7 + day) % 4000),
        publicDataTransfer: 1_234_567_891 * ((index % 97) + 1) + day,
      };
      const micros = Object.entries(quantities).map(([meter, quantity]) => toMicros(quantity, ...PRICES[meter]));
      cost.run([organizationId, date, id, `service-${index}`, warehouse, id, ...micros]);
      Object.entries(quantities).forEach(([meter, quantity], at) => {
        entry.run([organizationId, date, id, meter, date, String(quantity), PRICES[meter][0], micros[at]]);
      });
    }
  }
  db.exec('COMMIT');
  db.close();
}

function toMicros(quantity, price, unitsPerPricingUnit) {
  const scaled = BigInt(quantity) * BigInt(price.replace('.', '')) * 100n;
  return Number((2n * scaled + unitsPerPricingUnit) / (2n * unitsPerPricingUnit));
}

fillYear(process.argv[2], { entities: 1000, days: 365 });
