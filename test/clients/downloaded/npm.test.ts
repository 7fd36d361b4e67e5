import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import type { Json } from '../../support/client.ts';
import { acme } from '../../support/fleet.ts';
import { onEachStore, useServer } from '../../support/server.ts';
import { describeClient, installFromNpm } from '../install.ts';

const NAME = '@cleverbrush/clickhouse-cloud-api-client';

describeClient(
  `${NAME} 1.1.0`,
  () => installFromNpm(`${NAME}@1.1.0`),
  (directory) => {
    onEachStore(NAME, (store) => {
      const server = useServer(store);
      let client: Json;
      beforeAll(async () => {
        const { ClickhouseCloudApiClient } = await import(
          pathToFileURL(join(directory, 'node_modules', NAME, 'dist/index.js')).href
        );
        client = new ClickhouseCloudApiClient(acme.admin.keyId, acme.admin.keySecret, server.url);
      });

      it('getServiceDetails', async () => {
        const { result, status } = await client.getServiceDetails(acme.id, acme.primary);
        expect({ result, status }).toMatchObject({ status: 200, result: { id: acme.primary, name: 'analytics' } });
      });

      it('updateServiceScaling', async () => {
        const { result } = await client.updateServiceScaling(acme.id, acme.primary, {
          minTotalMemoryGb: 72,
          maxTotalMemoryGb: 144,
          numReplicas: 4,
        });
        expect(result).toMatchObject({ minReplicaMemoryGb: 24, maxReplicaMemoryGb: 48, numReplicas: 4 });
      });

      it('setServiceState', async () => {
        const { result } = await client.setServiceState(acme.id, acme.secondary, 'stop');
        expect(result.state).toMatch(/^stop(ping|ped)$/);
      });

      it('a rejected change throws with the reason', async () => {
        const change = client.updateServiceScaling(acme.id, acme.primary, { numReplicas: 100 });
        await expect(change).rejects.toThrow();
      });
    });
  },
);
