import { describe, expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { useServer } from '../support/server.ts';

const ENTITIES = 1000;
const DAYS = 31;

const uuid = (number: number) => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
const formatDate = (day: number) => `2026-03-${String(day).padStart(2, '0')}`;
const calculateMicros = (entity: number, day: number) => 100_003 * entity + 7 * day;

describe('a large usage cost response on libSQL', () => {
  const usageCosts = Array.from({ length: ENTITIES * DAYS }, (_, index) => {
    const [entity, day] = [index % ENTITIES, Math.floor(index / ENTITIES) + 1];
    const name = `service ${String(entity).padStart(4, '0')}`;
    return {
      date: formatDate(day),
      entityType: 'service',
      entityId: uuid(entity),
      entityName: name,
      dataWarehouseId: uuid(1),
      metrics: { computeCHC: calculateMicros(entity, day) / 1e6, storageCHC: 0.1 },
    };
  });
  const server = useServer('libsql', {
    fleet: { organizations: [{ id: acme.id, name: 'Acme', keys: [{ ...acme.admin, roles: ['admin'] }], usageCosts }] },
  });
  const read = () =>
    server.call({
      path: `/v1/organizations/${acme.id}/usageCost?from_date=${formatDate(1)}&to_date=${formatDate(DAYS)}`,
      key: acme.admin,
    });

  it('U1, U4: streams 31,000 records in order with the exact grand total, then serves them from the cache', async () => {
    let micros = 0;
    for (let day = 1; day <= DAYS; day++)
      for (let entity = 0; entity < ENTITIES; entity++) micros += calculateMicros(entity, day) + 100_000;
    const [streamed, cached] = [await read(), await read()];
    expect(streamed.headers.get('content-length')).toBeNull();
    expect(cached.headers.get('content-length')).toBe(String(Buffer.byteLength(cached.text)));
    for (const { status, headers, json } of [streamed, cached]) {
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
            `${date} ${entityId} ${(calculateMicros(index % ENTITIES, Math.floor(index / ENTITIES) + 1) + 100_000) / 1e6}`,
        ),
      );
    }
  });

  it('U1: is complete for concurrent requests', async () => {
    const responses = await Promise.all([read(), read(), read(), read()]);
    expect(responses.map(({ json }) => json.result.costs.length)).toEqual([31_000, 31_000, 31_000, 31_000]);
    expect(new Set(responses.map(({ json }) => json.requestId)).size).toBe(4);
  });
});
