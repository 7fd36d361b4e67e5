import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Desired, DrivenService } from '../../src/management/services/driver.ts';
import { readKubeconfig, readToken } from '../../src/running/drivers/kubernetes/kubeconfig.ts';
import { createKubernetesDriver } from '../../src/running/drivers/kubernetes/kubernetes-driver.ts';
import { cluster, installation } from '../support/kubernetes-objects.ts';
import { until } from '../support/until.ts';

/** The path of a kubeconfig whose account may create namespaces and resource definitions. */
const kubeconfig = process.env.PILOTHOUSE_KUBE_APISERVER ?? '';
const namespace = `pilothouse-test-${process.pid}`;

const definitions = [
  {
    group: 'clickhouse.altinity.com',
    version: 'v1',
    kind: 'ClickHouseInstallation',
    plural: 'clickhouseinstallations',
  },
  { group: 'clickhouse.com', version: 'v1alpha1', kind: 'ClickHouseCluster', plural: 'clickhouseclusters' },
].map(({ group, version, kind, plural }) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}));

async function send(method: string, path: string, body?: object): Promise<number> {
  const connection = await readKubeconfig(kubeconfig);
  const token = await readToken(connection);
  const { server, ca, cert, key, servername } = connection;
  const start = server.protocol === 'https:' ? httpsRequest : httpRequest;
  const tls = Object.fromEntries(Object.entries({ ca, cert, key, servername }).filter(([, value]) => value));
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  return new Promise((resolve, reject) => {
    const request = start(new URL(path, server), { method, headers, ...tls }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    request.once('error', reject);
    request.end(body && JSON.stringify(body));
  });
}

describe.skipIf(kubeconfig === '')(
  'a real API server (skipped unless PILOTHOUSE_KUBE_APISERVER is a kubeconfig)',
  () => {
    const driver = createKubernetesDriver({ kubeconfig, log: { info: () => {} } });
    const { signal } = new AbortController();
    const desired: Desired = { generation: 7, state: 'running', replicas: 3, memoryGb: 32 };
    const toService = (kind: 'ClickHouseInstallation' | 'ClickHouseCluster', name: string): DrivenService => ({
      id: name,
      organizationId: 'organization',
      name,
      kubernetes: { kind, namespace, name },
    });
    const orders = toService('ClickHouseInstallation', 'orders');
    const events = toService('ClickHouseCluster', 'events');

    beforeAll(async () => {
      for (const definition of definitions)
        expect([201, 409]).toContain(
          await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition),
        );
      await send('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
      for (const [path, { metadata, ...object }] of [
        ['clickhouse.altinity.com/v1', installation()],
        ['clickhouse.com/v1alpha1', cluster()],
      ] as const)
        await until(
          () =>
            send('POST', `/apis/${path}/namespaces/${namespace}/${object.kind.toLowerCase()}s`, {
              ...object,
              metadata: { name: metadata.name },
            }),
          (status) => status === 201 || status === 409,
          'the resource definition is not served',
        );
    });
    afterAll(async () => {
      await driver.close();
      await send('DELETE', `/api/v1/namespaces/${namespace}`);
    });

    it.each([
      ['ClickHouseInstallation', orders],
      ['ClickHouseCluster', events],
    ])('plans, resizes and observes a %s', async (_, service) => {
      const plan = await driver.plan(service, desired, signal);
      expect(plan.differences).toEqual([
        { member: 'memoryGb', before: 16, after: 32 },
        { member: 'replicas', before: 2, after: 3 },
      ]);
      expect((await driver.plan(service, desired, signal)).patches).toHaveLength(1);
      await driver.converge(service, desired, signal);
      expect(await driver.plan(service, desired, signal)).toMatchObject({ differences: [], patches: [] });
      // No operator acts on the change.
      expect((await driver.observe(service, signal)).state).toBe('starting');
    });

    it('names what is missing', async () => {
      const reason = 'clickhouseinstallations.clickhouse.altinity.com fleet/missing does not exist'.replace(
        'fleet',
        namespace,
      );
      expect(await driver.observe(toService('ClickHouseInstallation', 'missing'), signal)).toMatchObject({ reason });
    });
  },
);
