import { type ChainHead, EMPTY_CHAIN, encodeActivity, hashLink } from '../state/activity-chain.ts';
import type { ActivityRow, Db } from '../state/tables.ts';
import { listLinks, listLinksAt, readHead } from './chain-store.ts';

/** The first broken link of a chain. */
interface BrokenLink {
  kind: 'changed' | 'removed' | 'inserted';
  sequence: number;
  /** The id of the activity; undefined if it was removed. */
  id: string | undefined;
  text: string;
}

export interface Verification {
  /** The verified activities, from the first one. */
  activities: number;
  /** The stored head. */
  head: ChainHead;
  broken: BrokenLink | undefined;
}

interface Options {
  /** A head that was noted earlier: it must still be part of the chain. */
  expected?: ChainHead | undefined;
  /** Rows that are out of order are kept up to this size, in characters. */
  maxHeldCharacters?: number;
}

const ROWS_PER_PAGE = 200;
const MAX_HELD_CHARACTERS = 16_000_000;

interface Link {
  id: string;
  hash: string;
  text: string;
}

/**
 * Checks every link of an organization's audit log. Reads in the order of the ids, which is the order of the chain except
 * where clocks differed. Rows out of order are kept until their turn; if they are too many, they are read again.
 */
export async function verifyChain(
  db: Db,
  organizationId: string,
  { expected, maxHeldCharacters = MAX_HELD_CHARACTERS }: Options = {},
): Promise<Verification> {
  const head = await readHead(db, organizationId);
  const chain = createChainCheck(head, expected, maxHeldCharacters);
  for (let afterId: string | undefined = ''; afterId !== undefined && !chain.broken(); ) {
    chain.startPass();
    for (let last = afterId; ; ) {
      const rows: ActivityRow[] = await listLinks(db, organizationId, { afterId: last, limit: ROWS_PER_PAGE });
      for (const row of rows) chain.add(row, last);
      last = rows.at(-1)?.id ?? last;
      if (rows.length < ROWS_PER_PAGE || chain.broken()) break;
    }
    afterId = chain.endPass();
  }
  const broken = chain.broken() ?? chain.findEnd(await readHead(db, organizationId));
  return { activities: chain.verified(), head, broken: broken && (await explain(db, organizationId, chain, broken)) };
}

function createChainCheck(head: ChainHead, expected: ChainHead | undefined, maxHeldCharacters: number) {
  let last: ChainHead = EMPTY_CHAIN;
  const held = new Map<number, Link>();
  let heldCharacters = 0;
  let broken: BrokenLink | undefined;
  /** Rows that were written during the check. */
  let newest: { sequence: number; id: string } | undefined;
  let rows = 0;
  let passes = 0;
  let startOfPass = 0;
  /** The id before the first row that was not kept. */
  let skippedAfter: string | undefined;

  function fail(kind: BrokenLink['kind'], sequence: number, id: string | undefined, text: string): void {
    broken ??= { kind, sequence, id, text };
  }

  function follow(sequence: number, { id, hash, text }: Link): void {
    if (hashLink(last.hash, sequence, text) !== hash) {
      fail('changed', sequence, id, 'its contents do not match its hash and the hash of the activity before it');
      return;
    }
    last = { sequence, hash };
    if (sequence === expected?.sequence && hash !== expected.hash)
      fail('changed', sequence, id, 'its hash is not the one that was noted: the chain was computed again');
  }

  function followHeld(): void {
    for (let link = held.get(last.sequence + 1); link && !broken; link = held.get(last.sequence + 1)) {
      held.delete(last.sequence + 1);
      heldCharacters -= link.text.length;
      follow(last.sequence + 1, link);
    }
  }

  function hold(sequence: number, link: Link, previousId: string): void {
    if (held.has(sequence)) {
      if (held.get(sequence)?.id !== link.id)
        fail('inserted', sequence, link.id, `activity ${held.get(sequence)?.id} has the same number`);
    } else if (heldCharacters + link.text.length > maxHeldCharacters) skippedAfter ??= previousId;
    else {
      held.set(sequence, link);
      heldCharacters += link.text.length;
    }
  }

  return {
    broken: () => broken,
    verified: () => last.sequence,
    lastHash: () => last.hash,

    startPass(): void {
      passes++;
      startOfPass = last.sequence;
      skippedAfter = undefined;
    },

    /** `previousId` is an id before the row, to read it again. */
    add(row: ActivityRow, previousId: string): void {
      const { sequence, id, hash } = row;
      if (broken) return;
      if (sequence > head.sequence) {
        if (!newest || sequence > newest.sequence) newest = { sequence, id };
        return;
      }
      if (passes === 1) rows++;
      if (sequence <= last.sequence) {
        if (passes === 1) fail('inserted', sequence, id, 'another activity has the same number');
        return;
      }
      const link = { id, hash, text: encodeActivity(row) };
      if (sequence !== last.sequence + 1) hold(sequence, link, previousId);
      else {
        follow(sequence, link);
        followHeld();
      }
    },

    /** Where to continue reading; undefined if there is nothing to read again, or nothing new was found. */
    endPass: (): string | undefined => (last.sequence > startOfPass ? skippedAfter : undefined),

    /** Called after the last row. */
    findEnd(current: ChainHead): BrokenLink | undefined {
      if (last.sequence < head.sequence) {
        const next = Math.min(...held.keys());
        const following = held.get(next);
        fail(
          'removed',
          last.sequence + 1,
          undefined,
          following ? `the next one is ${following.id} (number ${next})` : `the newest is number ${last.sequence}`,
        );
      } else if (last.hash !== head.hash)
        fail('changed', head.sequence, undefined, 'the hash of the newest activity is not the stored head');
      else if (rows > head.sequence)
        fail('inserted', head.sequence, undefined, `there are ${rows} activities instead of ${head.sequence}`);
      else if (newest && newest.sequence > current.sequence)
        fail('inserted', newest.sequence, newest.id, `the head is number ${current.sequence}`);
      else if (expected && expected.sequence > head.sequence)
        fail('removed', head.sequence + 1, undefined, `number ${expected.sequence} was noted as the head`);
      return broken;
    },
  };
}

/** An inserted row looks like a changed one if it is read before the real one. */
async function explain(
  db: Db,
  organizationId: string,
  chain: ReturnType<typeof createChainCheck>,
  broken: BrokenLink,
): Promise<BrokenLink> {
  if (broken.kind !== 'changed' || broken.sequence !== chain.verified() + 1) return broken;
  const rows = await listLinksAt(db, organizationId, broken.sequence);
  const isReal = (row: ActivityRow) => hashLink(chain.lastHash(), row.sequence, encodeActivity(row)) === row.hash;
  const real = rows.find(isReal);
  const inserted = rows.find((row) => row !== real);
  if (!real || !inserted) return broken;
  return { ...broken, kind: 'inserted', id: inserted.id, text: `activity ${real.id} has the same number` };
}
