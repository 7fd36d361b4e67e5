import { expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

onEachStore('update service scaling', (store) => {
  const server = useServer(store);
  const path = `/v1/organizations/${acme.id}/services/${acme.primary}/scaling`;

  it('S1: keeps what is left out', async () => {
    const { status, json } = await server.call({ method: 'PATCH', path, key: acme.admin, body: { numReplicas: 5 } });
    expect(status).toBe(200);
    expect(json.result).toMatchObject({ numReplicas: 5, minTotalMemoryGb: 48, maxTotalMemoryGb: 360, idleTimeoutMinutes: 15 });
  });
});
