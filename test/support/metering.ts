import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import type { Cost } from '../../src/management/billing/cost.ts';
import { splitEvents } from '../../src/management/billing/metering/event-texts.ts';
import type { IntakeResult } from '../../src/management/billing/metering/intake.ts';
import type { LedgerEntry } from '../../src/management/billing/rating/ledger.ts';
import { listDays, type UsageDay } from '../../src/management/billing/rating/store.ts';
import type { Engine } from '../../src/platform/engine/engine.ts';
import { openEngine } from '../../src/platform/engine/open.ts';
import { openState } from '../../src/platform/state/open.ts';
import type { State } from '../../src/platform/state/state.ts';
import { createDomains, type Domains } from '../../src/server/domains.ts';
import { createDatabase, MIGRATED } from './postgres.ts';
import type { StoreName } from './server.ts';
import { createTestClock, createWrongClock, type TestClock } from './test-clock.ts';

export const actor = { type: 'system' as const, id: 'test', details: 'test' };

export interface Event {
  id: string;
  source: string;
  time: string;
  entityType: string;
  entityId: string;
  meter: string;
  quantity: number | string;
}

/** The billing domain on real stores, without HTTP, with a clock that the test sets. */
interface Metering {
  state: State;
  engine: Engine;
  domains: Domains;
  /** The duration of each rating, in seconds. */
  ratings: readonly number[];
  clock: TestClock;
  /** The log lines at level warn. */
  warnings: string[];
  /** Creates an organization with services `a` and `b` in one warehouse, and a clickpipe of `a`. */
  organization(fields?: object): Promise<TestOrganization>;
  /** New domains on the same stores, as after a restart. */
  restart(): Domains;
  /** The domains of another node on the same stores. */
  createNode(options?: NodeOptions): Domains;
}

interface NodeOptions {
  /** Runs before each transaction. */
  beforeWrite?(): Promise<void>;
  /** Runs after the engine has stored a batch, before the store counts it. */
  afterInsert?(): Promise<void>;
  /** Replaces the connection for reading. */
  db?: State['db'];
  /** Replaces the clock of the store. */
  storeNow?(): number;
}

export interface TestOrganization {
  id: string;
  a: string;
  b: string;
  warehouse: string;
  clickpipe: string;
  event(fields?: Partial<Event>): Event;
  /** Sends one batch. */
  send(events: readonly object[], domains?: Domains): Promise<IntakeResult>;
  costs(from: string, to?: string): Promise<Cost[]>;
  ledger(date: string): Promise<LedgerEntry[]>;
  days(): Promise<UsageDay[]>;
  /** The sum of all cost records, in micro-CHC. */
  total(from: string, to: string): Promise<number>;
  /** Fails when the ledger does not match the usage events. */
  expectExact(): Promise<void>;
}

const formatLines = (events: readonly object[]): Buffer =>
  Buffer.from(events.map((event) => JSON.stringify(event)).join('\n'));

export function useMetering(store: StoreName, { lockAfterDays = 14 } = {}): Metering {
  let metering: Metering | undefined;
  let close = async () => {};
  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-metering-'));
    const database =
      store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    const clock = createTestClock('2026-11-15T12:00:00Z');
    const warnings: string[] = [];
    const warn = (...parts: unknown[]) => void warnings.push(JSON.stringify(parts));
    const log = { debug() {}, info() {}, warn };
    const state = await openState({
      dataDirectory: directory,
      databaseUrl: database?.url,
      secretsKeyFile: inject('secretsKeyFile'),
      clock: createWrongClock(clock),
      storeClock: clock,
    });
    const engine = openEngine({ dataDirectory: directory, clock, log, engineMemoryBytes: 1024 ** 3 });
    const config = { dataDirectory: directory, maxKeys: 100, lockAfterDays };
    const ratings: number[] = [];
    const observeRating = (seconds: number) => void ratings.push(seconds);
    const create = () => createDomains({ state, engine, clock: createWrongClock(clock), log, observeRating, config });
    // Nodes share a ClickHouse server; here the embedded engine takes its place.
    const createNode = (options: NodeOptions = {}) => {
      const {
        beforeWrite = async () => {},
        afterInsert = async () => {},
        db = state.db,
        storeNow = clock.now,
      } = options;
      const insertTsv: Engine['insertTsv'] = async (...insert) => {
        await engine.insertTsv(...insert);
        await afterInsert();
      };
      const write: State['write'] = async (work) => {
        await beforeWrite();
        return state.write(work);
      };
      return createDomains({
        state: { ...state, db, write, now: async () => storeNow() },
        engine: { ...engine, kind: 'server', insertTsv },
        clock: createWrongClock(clock),
        log,
        config,
      });
    };
    const domains = create();
    metering = {
      state,
      engine,
      domains,
      ratings,
      warnings,
      clock,
      restart: create,
      createNode,
      organization: createOrganization,
    };
    close = async () => {
      await engine.close();
      await state.close();
      await database?.drop();
      rmSync(directory, { recursive: true, force: true });
    };

    async function createOrganization(fields: object = {}): Promise<TestOrganization> {
      const [id, a, b, warehouse, clickpipe] = [1, 2, 3, 4, 5].map(() => randomUUID()) as [
        string,
        string,
        string,
        string,
        string,
      ];
      const services = [
        { id: a, name: 'a', dataWarehouseId: warehouse, isPrimary: true, region: 'us-east-1' },
        { id: b, name: 'b', dataWarehouseId: warehouse, isPrimary: false, region: 'us-east-1' },
      ];
      const pipe = { entityType: 'clickpipe', entityId: clickpipe, entityName: 'pipe', serviceId: a, locked: true };
      const usageCosts = [{ date: '2020-01-01', ...pipe, metrics: { computeCHC: 1 } }];
      await domains.fleet.apply(
        {
          organizations: [{ id, name: `org ${id}`, tier: 'SCALE', paid: true, services, usageCosts, ...fields }],
        } as never,
        actor,
      );
      return {
        id,
        a,
        b,
        warehouse,
        clickpipe,
        event: (given = {}) => ({
          id: randomUUID(),
          source: 'agent',
          time: '2026-11-15T10:00:00Z',
          entityType: 'service',
          entityId: a,
          meter: 'compute',
          quantity: 60,
          ...given,
        }),
        send: (events, by = domains) => by.intake.ingest(id, () => splitEvents(formatLines(events), 'ndjson')),
        costs: (from, to = from) => domains.costs.list(id, { from, to }),
        ledger: (date) => listLedger(state.db, id, date),
        days: () => listDays(state.db, { organizationId: id }),
        async total(from, to) {
          const costs = await domains.costs.list(id, { from, to });
          return costs.flatMap(({ micros }) => Object.values(micros)).reduce((sum, micros) => sum + micros, 0);
        },
        async expectExact() {
          const checked = await domains.rating.check({ organizationId: id });
          expect(checked.differences).toEqual([]);
          expect(checked.waiting).toBe(0);
          expect(checked.mismatches).toEqual([]);
        },
      };
    }
  }, 120_000);
  afterAll(() => close());
  return new Proxy({} as Metering, { get: (_, name) => Reflect.get(metering ?? {}, name) });
}

/** The entries booked on that date. */
async function listLedger(db: State['db'], organizationId: string, date: string): Promise<LedgerEntry[]> {
  const query = db.selectFrom('usage_ledger').selectAll().where('organization_id', '=', organizationId);
  return (await query.where('date', '=', date).execute()).map((row) => ({
    date: row.date,
    entityType: row.entity_type as LedgerEntry['entityType'],
    entityId: row.entity_id,
    meter: row.meter as LedgerEntry['meter'],
    usageDate: row.usage_date,
    quantity: row.quantity,
    priceVersion: row.price_version,
    unitPrice: row.unit_price,
    micros: row.micros,
  }));
}
