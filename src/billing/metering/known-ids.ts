import type { Engine } from '../../engine/engine.ts';
import { createIdFilter, type IdFilter, type IdHash } from './id-filter.ts';

interface Options {
  engine: Engine;
  log: { warn(details: object, text: string): void };
}

/** The filter of one organization; none while it is being read. */
interface Remembered {
  filter: IdFilter | undefined;
  /** Added while the filter is being read. */
  meanwhile: IdHash[];
}

const IDS_PER_QUERY = 10_000;
/** Up to here a filter is waited for; a larger one is read while ids are looked up one by one. */
const SMALL = 300_000;
/** A few milliseconds of work at a time. */
const IDS_PER_SLICE = 30_000;
/** All filters together; the ones not used lately go first, and are read again when they are needed. */
const MAX_BYTES = 256 * 1024 * 1024;
const READ_LIMITS = { maxSeconds: 600, maxResultRows: 1 };

/**
 * Which ids were counted before. The engine's table knows for certain; looking ten thousand ids up in many millions takes
 * it half a second. So a filter in memory tells apart what is certainly new, which is nearly everything, and only the
 * rest is looked up. The filter holds as long as nobody else adds ids: whoever has the organization's turn.
 */
export function createKnownIds({ engine, log }: Options) {
  const organizations = new Map<string, Remembered>();

  async function lookUp(organizationId: string, ids: readonly IdHash[]): Promise<Set<IdHash>> {
    const found = new Set<IdHash>();
    for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
      const some = ids.slice(start, start + IDS_PER_QUERY);
      const rows = await engine.query(
        {
          sql: `SELECT DISTINCT hex(Hash) FROM pilothouse.usage_event_ids
            WHERE OrganizationId = {organizationId:String} AND Hash IN (
              SELECT toFixedString(substring(base64URLDecode({ids:String}), 1 + number * 16, 16), 16) FROM numbers({count:UInt64}))`,
          parameters: {
            organizationId,
            ids: Buffer.from(some.join(''), 'latin1').toString('base64url'),
            count: some.length,
          },
        },
        { limits: { maxSeconds: 120 } },
      );
      for (const [hex] of rows) found.add(Buffer.from(String(hex), 'hex').toString('latin1'));
    }
    return found;
  }

  /** Slices by the first bytes of the hash, in whose order the table lies. */
  async function read(organizationId: string, count: number): Promise<IdFilter> {
    const filter = createIdFilter(count);
    const slices = Math.min(65_536, 2 ** Math.ceil(Math.log2(Math.max(1, count / IDS_PER_SLICE))));
    for (let slice = 0; slice < slices; slice++) {
      const bound = (at: number) =>
        Math.round((at * 65_536) / slices)
          .toString(16)
          .padStart(4, '0');
      const isLast = slice === slices - 1;
      const [[text] = ['']] = await engine.query(
        {
          sql: `SELECT arrayStringConcat(groupArray(hex(Hash))) FROM pilothouse.usage_event_ids
            WHERE OrganizationId = {organizationId:String} AND Hash >= toFixedString(unhex({from:String}), 16)
            ${isLast ? '' : 'AND Hash < toFixedString(unhex({to:String}), 16)'}`,
          parameters: isLast
            ? { organizationId, from: bound(slice) }
            : { organizationId, from: bound(slice), to: bound(slice + 1) },
        },
        { limits: READ_LIMITS },
      );
      const bytes = Buffer.from(String(text), 'hex').toString('latin1');
      for (let at = 0; at < bytes.length; at += 16) filter.add(bytes.slice(at, at + 16));
    }
    return filter;
  }

  async function begin(organizationId: string): Promise<Remembered> {
    const remembered: Remembered = { filter: undefined, meanwhile: [] };
    organizations.set(organizationId, remembered);
    const [[count] = [0]] = await engine.query({
      sql: 'SELECT count() FROM pilothouse.usage_event_ids WHERE OrganizationId = {organizationId:String}',
      parameters: { organizationId },
    });
    const reading = read(organizationId, Number(count))
      .then((filter) => {
        for (const id of remembered.meanwhile.splice(0)) filter.add(id);
        remembered.filter = filter;
        makeRoom(organizationId);
      })
      .catch((error: Error) => {
        if (organizations.get(organizationId) === remembered) organizations.delete(organizationId);
        log.warn({ organizationId, reason: error.message }, 'the filter of counted ids could not be read');
      });
    if (Number(count) <= SMALL) await reading;
    return remembered;
  }

  function makeRoom(newest: string): void {
    let bytes = [...organizations.values()].reduce((sum, { filter }) => sum + (filter?.bytes() ?? 0), 0);
    for (const [id, { filter }] of organizations) {
      if (bytes <= MAX_BYTES) return;
      if (id === newest || !filter) continue;
      organizations.delete(id);
      bytes -= filter.bytes();
    }
  }

  return {
    /** Those of the ids that were counted before. */
    async among(organizationId: string, ids: readonly IdHash[]): Promise<Set<IdHash>> {
      const known = organizations.get(organizationId) ?? (await begin(organizationId));
      const { filter } = known;
      // Used last, dropped last.
      if (organizations.delete(organizationId)) organizations.set(organizationId, known);
      const unsure = filter ? ids.filter((id) => filter.mayHave(id)) : ids;
      return lookUp(organizationId, unsure);
    },

    /** Called as soon as they may be in the table. */
    add(organizationId: string, ids: readonly IdHash[]): void {
      const known = organizations.get(organizationId);
      if (known?.filter) for (const id of ids) known.filter.add(id);
      else for (const id of ids) known?.meanwhile.push(id);
    },

    /** Somebody else may have added ids: what is remembered is no longer all. */
    forget: (organizationId: string): void => void organizations.delete(organizationId),
  };
}
