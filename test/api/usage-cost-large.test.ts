import { describe, expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { useServer } from '../support/server.ts';

const ENTITIES = 1000;
const DAYS = 31;

const uuid = (number: number) => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
const dateOf = (day: number) => `2026-03-${String(day).padStart(2, '0')}`;
const microsOf = (entity: number, day: number) => 100_003 * entity + 7 * day;

describe('a large answer of usage costs on libSQL', () => {
  const usageCosts = Array.from({ length: ENTITIES * DAYS }, (_, index) => {
    const [entity, day] = [index % ENTITIES, Math.floor(index / ENTITIES) + 1];
    const name = `service ${String(entity).padStart(4, '0')}`;
    return {
      date: dateOf(day),
      entityType: 'service',
      entityId: uuid(entity),
      entityName: name,
      dataWarehouseId: uuid(1),
      metrics: { computeCHC: microsOf(entity, day) / 1e6, storageCHC: 0.1 },
    };
  });
  const server = useServer('libsql', {
    fleet: { organizations: [{ id: acme.id, name: 'Acme', keys: [{ ...acme.admin, roles: ['admin'] }], usageCosts }] },
  });
  const ask = () =>
    server.call({
      path: `/v1/organizations/${acme.id}/usageCost?from_date=${dateOf(1)}&to_date=${dateOf(DAYS)}`,
      key: acme.admin,
    });

  it('U1, U4: streams 31,000 records in order, with the exact grand total, again and again', async () => {
    let micros = 0;
    for (let day = 1; day <= DAYS; day++)
      for (let entity = 0; entity < ENTITIES; entity++) micros += microsOf(entity, day) + 100_000;
    const [rendered, kept] = [await ask(), await ask()];
    expect(rendered.headers.get('content-length')).toBeNull();
    expect(kept.headers.get('content-length')).toBe(String(Buffer.byteLength(kept.text)));
    for (const { status, headers, json } of [rendered, kept]) {
      expect(status).toBe(200);
      expect(json.status).toBe(200);
      expect(json.requestId).toBe(headers.get('x-request-id'));
      expect(json.result.grandTotalCHC).toBe(micros / 1e6);
      const records = json.result.costs.map(
        ({ date, entityId, totalCHC }: Record<string, unknown>) => `${date} ${entityId} ${totalCHC}`,
      );
      expect(records).toEqual(
        usageCosts.map(
          ({ date, entityId }, index) =>
            `${date} ${entityId} ${(microsOf(index % ENTITIES, Math.floor(index / ENTITIES) + 1) + 100_000) / 1e6}`,
        ),
      );
    }
  });

  it('U1: many at once are all whole', async () => {
    const answers = await Promise.all([ask(), ask(), ask(), ask()]);
    expect(answers.map(({ json }) => json.result.costs.length)).toEqual([31_000, 31_000, 31_000, 31_000]);
    expect(new Set(answers.map(({ json }) => json.requestId)).size).toBe(4);
  });
});
