import { expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { createDashboard, read, tile, write } from '../support/dashboards.ts';
import { acme } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

const CLICKSTACK = `/v1/organizations/${acme.id}/services/${acme.primary}/clickstack/dashboards`;

const variables = {
  filters: [
    {
      type: 'QUERY_EXPRESSION',
      name: 'Service',
      expression: 'ServiceName',
      sourceId: 'logs',
      isBroadcastEnabled: true,
      isVariableEnabled: true,
      variableName: 'service',
    },
    {
      type: 'STATIC_LIST',
      name: 'Severity',
      options: ['ERROR', 'WARN'],
      isBroadcastEnabled: true,
      isVariableEnabled: true,
      variableName: 'severity',
      maxSelections: 1,
      // Only in Pilothouse.
      expression: 'SeverityText',
    },
  ],
  savedQuery: 'ServiceName:"api"',
  savedQueryLanguage: 'lucene',
  savedFilterValues: [{ type: 'variable', name: 'service', values: ['api'] }],
};

/** What a client keeps that knows the public interface only. */
const toPublicForm = ({ filters, tiles, ...dashboard }: Json): Json => ({
  ...dashboard,
  filters: filters?.map(({ expression, ...filter }: Json) => ({
    ...filter,
    ...(filter.type === 'QUERY_EXPRESSION' && { expression }),
  })),
  tiles: tiles.map(({ ignoresFilters: _, ...one }: Json) => one),
});

onEachStore('variables of a dashboard', (store) => {
  const server = useServer(store);
  const clickStack = async (method: string, suffix: string, body?: object) => {
    const path = `${CLICKSTACK}${suffix}`;
    const { status, json, text } = await server.call({ method, path, key: acme.admin, ...(body && { body }) });
    expect(status, text).toBe(200);
    return json.result;
  };
  const api = async (method: string, suffix: string, body?: object) => {
    const { status, json, text } = await write(server, method, suffix, body);
    expect(status, text).toBe(200);
    return json.data;
  };
  const create = async () => {
    const tiles = [tile({ ignoresFilters: true }), tile({ y: 4, ignoresFilters: false })];
    return (await createDashboard(server, { name: 'Variables', tiles, ...variables })).data;
  };
  const countVersions = async (id: string) => (await read(server, `/${id}/versions`)).json.data.length;

  it('are returned by both interfaces and in both forms', async () => {
    const created = await create();
    expect(created).toMatchObject(variables);
    expect(created.tiles.map(({ ignoresFilters }: Json) => ignoresFilters)).toEqual([true, undefined]);
    const config = await clickStack('GET', `/${created.id}`);
    expect(config).toMatchObject(variables);
    expect(config.tiles[0]).toMatchObject({ ignoresFilters: true });
    expect(config).toEqual(await api('GET', `/${created.id}?format=config`));
  });

  it('survive a client that reads and writes the public form', async () => {
    const created = await create();
    const { id } = created;
    await clickStack('PUT', `/${id}`, toPublicForm(await clickStack('GET', `/${id}`)));
    await api('PUT', `/${id}?format=config`, toPublicForm(await api('GET', `/${id}?format=config`)));
    await api('PUT', `/${id}`, toPublicForm(await api('GET', `/${id}`)));
    const { name, tags, tiles } = toPublicForm(created);
    await api('PUT', `/${id}`, { name, tags, tiles });
    expect(await api('GET', `/${id}`)).toEqual(created);
    expect(await countVersions(id)).toBe(1);
    // Its own changes are kept, too.
    const options = ['ERROR', 'WARN', 'FATAL'];
    const other = toPublicForm(await clickStack('GET', `/${id}`));
    other.filters[1].options = options;
    other.tiles[0].name = 'renamed';
    await clickStack('PUT', `/${id}`, other);
    const changed = await api('GET', `/${id}`);
    expect(changed.filters[1]).toEqual({ ...created.filters[1], options });
    expect(changed.tiles[0]).toMatchObject({ name: 'renamed', ignoresFilters: true });
  });

  it('can be changed and removed', async () => {
    const created = await create();
    const { id, tiles } = created;
    const [first, second] = created.filters;
    const body = {
      ...created,
      filters: [first, { ...second, expression: 'Body' }],
      savedQuery: null,
      savedFilterValues: [],
      tiles: tiles.map((one: Json) => ({ ...one, ignoresFilters: false })),
    };
    const changed = await api('PUT', `/${id}`, body);
    expect(changed.filters[1].expression).toBe('Body');
    expect(changed).not.toHaveProperty('savedQuery');
    expect(changed).not.toHaveProperty('savedFilterValues');
    expect(changed.tiles.some((one: Json) => 'ignoresFilters' in one)).toBe(false);
    expect(await api('PUT', `/${id}`, { ...changed, filters: [] })).not.toHaveProperty('filters');
  });
});
