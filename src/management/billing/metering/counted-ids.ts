import type { Engine } from '../../../platform/engine/engine.ts';
import { getOnlyRow } from '../../../platform/engine/result.ts';
import { createIdFilter, type IdFilter, type IdHash } from './id-filter.ts';

interface Options {
  engine: Engine;
  log: { warn(details: object, text: string): void };
}

interface CachedFilter {
  /** Undefined while it is being loaded. */
  filter: IdFilter | undefined;
  /** Ids added while the filter is being loaded. */
  pending: IdHash[];
}

const IDS_PER_QUERY = 10_000;
/** A larger filter is loaded in the background; until then all ids are looked up in the engine. */
const MAX_AWAITED_IDS = 300_000;
/** A few milliseconds of work. */
const IDS_PER_SLICE = 30_000;
/** The limit for all filters. The least recently used are evicted, and loaded again when needed. */
const MAX_FILTER_BYTES = 256 * 1024 * 1024;
const LOAD_LIMITS = { maxSeconds: 600, maxResultRows: 1 };

/**
 * Finds ids that were counted before. The engine's table is authoritative, but looking up ten thousand ids among many
 * millions takes half a second. A filter in memory excludes ids that are certainly new, nearly all of them; only the
 * rest is looked up. The filter is complete as long as no other node adds ids, which the intake lease ensures.
 */
export function createCountedIds({ engine, log }: Options) {
  const filters = new Map<string, CachedFilter>();

  async function lookUp(organizationId: string, ids: readonly IdHash[]): Promise<Set<IdHash>> {
    const found = new Set<IdHash>();
    for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
      const chunk = ids.slice(start, start + IDS_PER_QUERY);
      const rows = await engine.query(
        {
          sql: `SELECT DISTINCT hex(Hash) FROM pilothouse.usage_event_ids
            WHERE OrganizationId = {organizationId:String} AND Hash IN (
              SELECT toFixedString(substring(base64URLDecode({ids:String}), 1 + number * 16, 16), 16) FROM numbers({count:UInt64}))`,
          parameters: {
            organizationId,
            ids: Buffer.from(chunk.join(''), 'latin1').toString('base64url'),
            count: chunk.length,
          },
        },
        { limits: { maxSeconds: 120 } },
      );
      for (const [hex] of rows) found.add(Buffer.from(String(hex), 'hex').toString('latin1'));
    }
    return found;
  }

  /** Reads in slices by the first bytes of the hash, which is the sort order of the table. */
  async function loadFilter(organizationId: string, count: number): Promise<IdFilter> {
    const filter = createIdFilter(count);
    let added = 0;
    const slices = Math.min(65_536, 2 ** Math.ceil(Math.log2(Math.max(1, count / IDS_PER_SLICE))));
    for (let slice = 0; slice < slices; slice++) {
      const bound = (at: number) =>
        Math.round((at * 65_536) / slices)
          .toString(16)
          .padStart(4, '0');
      const isLast = slice === slices - 1;
      const texts = await engine.query(
        {
          sql: `SELECT arrayStringConcat(groupArray(hex(Hash))) FROM pilothouse.usage_event_ids
            WHERE OrganizationId = {organizationId:String} AND Hash >= toFixedString(unhex({from:String}), 16)
            ${isLast ? '' : 'AND Hash < toFixedString(unhex({to:String}), 16)'}`,
          parameters: isLast
            ? { organizationId, from: bound(slice) }
            : { organizationId, from: bound(slice), to: bound(slice + 1) },
        },
        { limits: LOAD_LIMITS },
      );
      const [text] = getOnlyRow(texts);
      const bytes = Buffer.from(String(text), 'hex').toString('latin1');
      for (let at = 0; at < bytes.length; at += 16) filter.add(bytes.slice(at, at + 16));
      added += bytes.length / 16;
    }
    // An id that is not in the filter counts as new.
    if (added < count) throw new Error(`the engine sent ${added} of ${count} ids`);
    return filter;
  }

  async function countIds(organizationId: string): Promise<number> {
    const counted = await engine.query({
      sql: 'SELECT count() FROM pilothouse.usage_event_ids WHERE OrganizationId = {organizationId:String}',
      parameters: { organizationId },
    });
    return Number(getOnlyRow(counted)[0]);
  }

  async function cacheFilter(organizationId: string): Promise<CachedFilter> {
    const cached: CachedFilter = { filter: undefined, pending: [] };
    filters.set(organizationId, cached);
    const count = await countIds(organizationId).catch((error) => {
      filters.delete(organizationId);
      throw error;
    });
    const loading = loadFilter(organizationId, count)
      .then((filter) => {
        for (const id of cached.pending.splice(0)) filter.add(id);
        cached.filter = filter;
        evictLeastRecent(organizationId);
      })
      .catch((error: Error) => {
        if (filters.get(organizationId) === cached) filters.delete(organizationId);
        log.warn({ organizationId, reason: error.message }, 'failed to load the id filter');
      });
    if (count <= MAX_AWAITED_IDS) await loading;
    return cached;
  }

  function evictLeastRecent(newest: string): void {
    let bytes = [...filters.values()].reduce((sum, { filter }) => sum + (filter?.bytes() ?? 0), 0);
    for (const [id, { filter }] of filters) {
      if (bytes <= MAX_FILTER_BYTES) return;
      if (id === newest || !filter) continue;
      filters.delete(id);
      bytes -= filter.bytes();
    }
  }

  return {
    /** Returns the ids that were counted before. */
    async findCounted(organizationId: string, ids: readonly IdHash[]): Promise<Set<IdHash>> {
      const cached = filters.get(organizationId) ?? (await cacheFilter(organizationId));
      const { filter } = cached;
      // Moved to the end: the map is in the order of last use.
      if (filters.delete(organizationId)) filters.set(organizationId, cached);
      const candidates = filter ? ids.filter((id) => filter.mayContain(id)) : ids;
      return lookUp(organizationId, candidates);
    },

    /** Must be called before the ids are inserted into the engine's table. */
    add(organizationId: string, ids: readonly IdHash[]): void {
      const cached = filters.get(organizationId);
      if (cached?.filter) for (const id of ids) cached.filter.add(id);
      else for (const id of ids) cached?.pending.push(id);
    },

    /** Must be called when another node may have added ids. */
    evict: (organizationId: string): void => void filters.delete(organizationId),
  };
}
