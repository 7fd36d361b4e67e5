import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { useServer } from '../support/server.ts';

/** The names of the public API, and of the dashboard API, that users of generated clients expect. */
const NAMES = [
  'Activity',
  'ApiKey',
  'ApiKeyHashData',
  'ApiKeyPatchRequest',
  'ApiKeyPostRequest',
  'ApiKeyPostResponse',
  'CurrentScaling',
  'Dashboard',
  'IpAccessListEntry',
  'Organization',
  'Service',
  'ServiceEndpoint',
  'ServiceReplicaScalingPatchRequest',
  'ServiceScalingPatchRequest',
  'Source',
  'Tile',
  'UsageCost',
  'UsageCostMetrics',
  'UsageCostRecord',
];
const DASHBOARD_READS = ['listDashboards', 'getDashboard'];

interface Operation {
  operationId: string;
  tags: string[];
  description: string;
  requestBody?: { required: boolean; content: Record<string, { schema: Json }> };
  responses: Record<string, Json>;
}

describe('the OpenAPI document', () => {
  const server = useServer('libsql');
  let document: Json;
  let operations: Operation[];
  beforeAll(async () => {
    document = (await server.call({ path: '/openapi.json' })).json;
    operations = Object.values<Record<string, Operation>>(document.paths).flatMap((methods) => Object.values(methods));
  });

  it('has components with the public names', () => {
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(NAMES));
  });

  it('refers only to components that exist, and uses each of them', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)];
    const used = new Set(references.map(([, kind, name]) => `${kind}/${name}`));
    const defined = ['schemas', 'responses'].flatMap((kind) =>
      Object.keys(document.components[kind]).map((name) => `${kind}/${name}`),
    );
    expect([...used].sort()).toEqual(defined.sort());
  });

  it('names the body of every request', () => {
    for (const { operationId, requestBody } of operations) {
      const schema = requestBody?.content['application/json']?.schema;
      if (schema?.type !== 'array') expect(schema?.properties, operationId).toBeUndefined();
    }
  });

  it('requires a body only where a member is required (B5)', () => {
    const [keyCreate, budgetCreate] = ['openapiKeyCreate', 'budgetCreate'].map((id) =>
      operations.find(({ operationId }) => operationId === id),
    );
    expect(keyCreate?.requestBody?.required).toBe(false);
    expect(budgetCreate?.requestBody?.required).toBe(true);
  });

  it('describes every operation and tag', () => {
    const described = document.tags.map(({ name, description }: Json) => (description ? name : ''));
    for (const { operationId, tags, description } of operations) {
      expect(description, operationId).toMatch(/\S/);
      for (const tag of tags) expect(described, operationId).toContain(tag);
    }
  });

  it('D2: documents 304 where a dashboard is read', () => {
    for (const id of DASHBOARD_READS)
      expect(operations.find(({ operationId }) => operationId === id)?.responses['304']?.content).toBeUndefined();
    expect(operations.filter(({ responses }) => responses['304']).length).toBeGreaterThanOrEqual(2);
  });

  it('marks the total memory of a service as deprecated', () => {
    const { properties } = document.components.schemas.ServiceScalingPatchRequest;
    expect(properties.minTotalMemoryGb.deprecated).toBe(true);
    expect(properties.maxTotalMemoryGb.deprecated).toBe(true);
    expect(properties.numReplicas.deprecated).toBeUndefined();
  });

  it('has examples that match their schemas', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
    const { components } = document;
    const examples = Object.entries<Json>(components.schemas).flatMap(([name, schema]) =>
      (schema.examples ?? []).map((example: Json) => ({ name, schema, example })),
    );
    expect(examples.map(({ name }) => name)).toEqual(expect.arrayContaining(['ApiKey', 'UsageCost', 'Dashboard']));
    for (const { name, schema, example } of examples) {
      const validate = ajv.compile({ ...schema, components });
      expect(validate(example), `${name}: ${ajv.errorsText(validate.errors)}`).toBe(true);
    }
  });
});
