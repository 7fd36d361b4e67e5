import { expect, it } from 'vitest';
import { acme, globex } from '../support/fleet.ts';
import { putRatedDays } from '../support/ledger.ts';
import { onEachStore, useServer } from '../support/server.ts';

onEachStore('the freshness of usage costs', (store) => {
  const server = useServer(store);
  const readHeaders = async ({ id, admin }: Pick<typeof acme, 'id' | 'admin'>) => {
    const path = `/v1/organizations/${id}/usageCost?from_date=2026-10-01&to_date=2026-10-31`;
    const { headers } = await server.call({ path, key: admin });
    return [headers.get('x-pilothouse-as-of'), headers.get('x-pilothouse-locked-through')];
  };

  it('U5: is in the headers, with the last locked day, even when the response is cached', async () => {
    const now = Date.now();
    const today = new Date(now).toISOString().slice(0, 10);
    const ratedAt = Math.floor(now / 1000) * 1000;
    await putRatedDays(server, [
      { organizationId: acme.id, date: '2026-01-01', ratedAt: 1000, locked: true },
      { organizationId: acme.id, date: '2026-01-02', ratedAt: 2000, locked: true },
      { organizationId: acme.id, date: today, ratedAt, locked: false },
    ]);
    const yesterday = new Date(Date.parse(`${today}T00:00:00Z`) - 1).toISOString().slice(0, 10);
    const expected = [new Date(ratedAt).toISOString().replace('.000', ''), yesterday];
    expect([await readHeaders(acme), await readHeaders(acme)]).toEqual([expected, expected]);
  });

  it('is omitted without metered usage', async () => {
    expect(await readHeaders(globex)).toEqual([null, null]);
  });
});
