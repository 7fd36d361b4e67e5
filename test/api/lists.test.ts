import { describe, expect, it } from 'vitest';
import type { Credentials, Json } from '../support/client.ts';
import { acme, fleet, globex } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';
import { onEachStore, useServer } from '../support/server.ts';

const MAX_PAGE = 1000;
/** More than one page without a limit. */
const MANY = MAX_PAGE + 5;
const organizations = fleet.organizations.map((organization) => {
  if (organization.id !== globex.id) return organization;
  const services = Array.from({ length: MANY - organization.services.length }, (_, index) => ({
    name: `Unit-${String(index).padStart(4, '0')}`,
    // Several services share a creation time.
    createdAt: new Date(Date.UTC(2026, 0, 1) + Math.floor(index / 7) * 1000).toISOString(),
  }));
  return { ...organization, services: [...organization.services, ...services] };
});

onEachStore('lists', (store) => {
  const server = useServer(store, { fleet: { organizations } });
  const get = (path: string, key: Credentials = acme.admin) => server.call({ path: `/v1/organizations${path}`, key });
  const names = (result: Json[]): string[] => result.map(({ name }) => name);

  /** All pages from the first one. */
  async function readPages(path: string, key: Credentials, between?: () => Promise<void>): Promise<Json[][]> {
    const pages: Json[][] = [];
    for (let cursor = ''; pages.length < 50; await between?.()) {
      const { status, json, text } = await get(`${path}${cursor === '' ? '' : `&cursor=${cursor}`}`, key);
      expect(status, text).toBe(200);
      pages.push(json.result);
      if (json.nextCursor === null) return pages;
      expect(typeof json.nextCursor).toBe('string');
      cursor = encodeURIComponent(json.nextCursor);
    }
    throw new Error('the list does not end');
  }

  /** The last use of a key is written a moment after it. */
  const withoutUse = (records: Json[]): Json[] => records.map(({ usedAt: _, ...record }) => record);

  const LISTS = ['', `/${acme.id}/keys`, `/${acme.id}/services`, `/${acme.id}/activities`];

  describe.each(LISTS)('M6: GET /v1/organizations%s', (path) => {
    it('has neither limit nor nextCursor if the caller sent neither and everything fits', async () => {
      expect(Object.keys((await get(path)).json).sort()).toEqual(['requestId', 'result', 'status']);
    });

    it('has the totalCount of the public interface: in the list of keys, beside limit', async () => {
      const count = (await get(path)).json.result.length;
      const { json } = await get(`${path}?limit=1`);
      expect(json.totalCount).toBe(path.endsWith('/keys') ? count : undefined);
    });

    it('has the limit and a null nextCursor on the only page', async () => {
      const all = (await get(path)).json.result;
      const { json } = await get(`${path}?limit=1000`);
      expect([json.limit, json.nextCursor, withoutUse(json.result)]).toEqual([1000, null, withoutUse(all)]);
    });

    it('pages through all records, each once, in the same order', async () => {
      const all = (await get(path)).json.result;
      const pages = await readPages(`${path}?limit=2`, acme.admin);
      expect(withoutUse(pages.flat())).toEqual(withoutUse(all));
      expect(pages.slice(0, -1).every(({ length }) => length === 2)).toBe(true);
      expect(pages).toHaveLength(Math.ceil(all.length / 2));
    });

    it.each([
      ['limit=0', 'query.limit: The value must be at least 1 <number:0>'],
      ['limit=1001', 'query.limit: The value must be at most 1000 <number:1001>'],
      ['limit=-1', 'query.limit: The value must be an integer <string:-1>'],
      ['limit=1.5', 'query.limit: The value must be an integer <string:1.5>'],
      ['limit=ten', 'query.limit: The value must be an integer <string:ten>'],
      ['limit=1&limit=2', 'query.limit: The value must be an integer <array>'],
      ['offset=1', 'query.offset: Unknown parameter <string:1>'],
    ])('rejects %s', async (query, error) => {
      const { status, json } = await get(`${path}?${query}`);
      expect([status, json.error]).toEqual([400, `BAD_REQUEST: ${error}`]);
    });
  });

  describe('M6: a cursor', () => {
    const services = `/${acme.id}/services`;
    const expectRejected = async (path: string, key?: Credentials) => {
      const { status, json } = await get(path, key);
      expect([status, json.error]).toEqual([
        400,
        expect.stringContaining('query.cursor: The cursor is not valid: send the nextCursor of the previous page'),
      ]);
    };
    const readCursor = async (path: string, key?: Credentials): Promise<string> =>
      (await get(`${path}limit=1`, key)).json.nextCursor;

    it.each([
      ['empty', () => ''],
      ['of other characters', () => '%F0%9F%98%80!'],
      ['shortened', (cursor: string) => cursor.slice(0, -1)],
      ['without its start', (cursor: string) => cursor.slice(1)],
      ['extended', (cursor: string) => `${cursor}A`],
      ['with padding', (cursor: string) => `${cursor}%3D`],
      ['with spaces', (cursor: string) => `%20${cursor}`],
      [
        'changed at the end',
        (cursor: string) => `${cursor.slice(0, -2)}${cursor.at(-2) === 'x' ? 'y' : 'x'}${cursor.at(-1)}`,
      ],
      ['changed at the start', (cursor: string) => `${cursor.startsWith('x') ? 'y' : 'x'}${cursor.slice(1)}`],
      ['made up', () => Buffer.from('["2026-01-01","0"]').toString('base64url')],
    ])('is rejected if it is %s', async (_, change) => {
      await expectRejected(`${services}?cursor=${change(await readCursor(`${services}?`))}`);
    });

    it('is rejected by other lists, with other parameters and in other organizations', async () => {
      const cursor = await readCursor(`${services}?`);
      await expectRejected(`/${acme.id}/keys?cursor=${cursor}`);
      await expectRejected(`/${acme.id}/activities?cursor=${cursor}`);
      await expectRejected(`?cursor=${cursor}`);
      await expectRejected(`${services}?sort=name&cursor=${cursor}`);
      await expectRejected(`${services}?search=a&cursor=${cursor}`);
      await expectRejected(`/${globex.id}/services?cursor=${cursor}`, globex.admin);
      const activities = await readCursor(`/${acme.id}/activities?`);
      await expectRejected(`/${acme.id}/activities?type=key_create&cursor=${activities}`);
    });

    it('is valid with another limit and for another key of the organization', async () => {
      const cursor = await readCursor(`${services}?`);
      const all = (await get(services)).json.result;
      expect((await get(`${services}?limit=50&cursor=${cursor}`, acme.developer)).json.result).toEqual(all.slice(1));
      expect((await get(`${services}?cursor=${cursor}`)).json).toMatchObject({ limit: MAX_PAGE, nextCursor: null });
    });

    it('of activities excludes before', async () => {
      const activities = `/${acme.id}/activities?`;
      const { json } = await get(`${activities}before=${acme.id}&cursor=${await readCursor(activities)}`);
      expect(json.error).toMatch(/^BAD_REQUEST: query\.(before|cursor): /);
    });
  });

  describe('M6: more than 1,000 services', () => {
    const path = `/${globex.id}/services`;

    it('come in pages of 1,000 without a limit', async () => {
      const { json } = await get(path, globex.admin);
      expect([json.result.length, json.limit]).toEqual([MAX_PAGE, MAX_PAGE]);
      const rest = await get(`${path}?cursor=${json.nextCursor}`, globex.admin);
      expect([rest.json.result.length, rest.json.limit, rest.json.nextCursor]).toEqual([
        MANY - MAX_PAGE,
        MAX_PAGE,
        null,
      ]);
      const ids = [...json.result, ...rest.json.result].map(({ id }: Json) => id);
      expect(new Set(ids).size).toBe(MANY);
    });

    it.each(['createdAt', '-createdAt', 'name', '-name'])('are complete in the order %s', async (sort) => {
      const pages = await readPages(`${path}?sort=${sort}&limit=211`, globex.admin);
      const records = pages.flat();
      expect(new Set(records.map(({ id }) => id)).size).toBe(MANY);
      const column = sort.replace('-', '') as 'name' | 'createdAt';
      const values = records.map((record) => record[column].toLowerCase());
      expect(values).toEqual(sort.startsWith('-') ? values.toSorted().reverse() : values.toSorted());
    });

    it('are searched by name and id, ignoring case', async () => {
      const search = async (text: string, more = '') =>
        (await get(`${path}?search=${encodeURIComponent(text)}${more}`, globex.admin)).json.result;
      expect(names(await search('uNIT-000', '&sort=-name'))).toEqual(
        Array.from({ length: 10 }, (_, index) => `Unit-000${9 - index}`),
      );
      const [first] = await search('unit-0042');
      expect(names(await search(first.id.toUpperCase()))).toEqual(['Unit-0042']);
      // The characters that a pattern could interpret are ordinary characters.
      for (const text of ['Unit_0042', '%', 'unit-%', '!', "'", '\\']) expect(await search(text)).toEqual([]);
      const pages = await readPages(`${path}?search=unit&limit=300`, globex.admin);
      expect(pages.map(({ length }) => length)).toEqual([300, 300, 300, MANY - 901]);
    });

    it.each([
      ['sort=size', 'query.sort: The value must be one of createdAt, -createdAt, name, -name <string:size>'],
      ['search=', 'query.search: The value must not be empty <string:>'],
      ['search=a%00', 'query.search: The value must not contain NUL characters or unpaired surrogates'],
      ['search=a&search=b', 'query.search: The value must be a string <array>'],
    ])('reject %s', async (query, error) => {
      const { status, json } = await get(`${path}?${query}`, globex.admin);
      expect([status, json.error]).toEqual([400, expect.stringContaining(`BAD_REQUEST: ${error}`)]);
    });
  });

  it('M6: keys that are created and deleted between pages neither hide nor repeat other keys', async () => {
    const kept: string[] = [];
    for (let index = 0; index < 9; index++) kept.push((await createKey(server, { name: `kept ${index}` })).id);
    const deleted: string[] = [];
    for (let index = 0; index < 4; index++) deleted.push((await createKey(server, { name: `deleted ${index}` })).id);
    const change = async () => {
      const id = deleted.pop();
      if (id !== undefined)
        await server.call({ method: 'DELETE', path: `/v1/organizations/${acme.id}/keys/${id}`, key: acme.admin });
      await createKey(server, { name: `kept ${deleted.length}, later` });
    };
    for (const sort of ['name', 'createdAt']) {
      const ids = (await readPages(`/${acme.id}/keys?limit=4&search=kept&sort=${sort}`, acme.admin, change))
        .flat()
        .map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toEqual(expect.arrayContaining(kept));
    }
  });

  it('a renamed key is sorted and searched by its new name', async () => {
    const { id } = await createKey(server, { name: 'Zeta' });
    const path = `/${acme.id}/keys`;
    await server.call({
      method: 'PATCH',
      path: `/v1/organizations${path}/${id}`,
      key: acme.admin,
      body: { name: 'ÄLPHA omega' },
    });
    expect(names((await get(`${path}?search=zeta`)).json.result)).toEqual([]);
    expect(names((await get(`${path}?search=${encodeURIComponent('älpha')}`)).json.result)).toEqual(['ÄLPHA omega']);
  });
});
