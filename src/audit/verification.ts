import { type ChainHead, EMPTY_CHAIN, encodeActivity, hashLink } from '../state/activity-chain.ts';
import type { ActivityRow, Db } from '../state/tables.ts';
import { findLinkAfter, listLinks, listLinksAt, readHead } from './chain-store.ts';

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

const ROWS_PER_PAGE = 200;

/**
 * Checks every link of an organization's audit log in the order of the chain. `expected` is a head that was noted
 * earlier: it must still be part of the chain.
 */
export async function verifyChain(db: Db, organizationId: string, expected?: ChainHead): Promise<Verification> {
  const head = await readHead(db, organizationId);
  let last: ChainHead = EMPTY_CHAIN;
  let broken: BrokenLink | undefined;
  for await (const row of readLinks(db, organizationId, head.sequence)) {
    broken = checkLink(row, last) ?? checkExpected(row, expected);
    if (broken) break;
    last = { sequence: row.sequence, hash: row.hash };
  }
  broken = broken ? await explain(db, broken, last, organizationId) : checkEnd(last, head, expected);
  broken ??= await findBeyondHead(db, organizationId);
  return { activities: last.sequence, head, broken };
}

async function* readLinks(db: Db, organizationId: string, lastSequence: number): AsyncGenerator<ActivityRow> {
  for (let after: Pick<ActivityRow, 'sequence' | 'id'> | undefined; ; ) {
    const rows = await listLinks(db, organizationId, { after, lastSequence, limit: ROWS_PER_PAGE });
    yield* rows;
    after = rows.at(-1);
    if (rows.length < ROWS_PER_PAGE) return;
  }
}

const isNext = (row: ActivityRow, last: ChainHead): boolean =>
  hashLink(last.hash, row.sequence, encodeActivity(row)) === row.hash;

function checkLink(row: ActivityRow, last: ChainHead): BrokenLink | undefined {
  const { sequence, id } = row;
  const next = last.sequence + 1;
  if (sequence < next) return { kind: 'inserted', sequence, id, text: 'another activity has the same number' };
  if (sequence > next)
    return { kind: 'removed', sequence: next, id: undefined, text: `the next one is ${id} (number ${sequence})` };
  if (isNext(row, last)) return undefined;
  const text = 'its contents do not match its hash and the hash of the activity before it';
  return { kind: 'changed', sequence, id, text };
}

function checkExpected({ sequence, id, hash }: ActivityRow, expected?: ChainHead): BrokenLink | undefined {
  if (sequence !== expected?.sequence || hash === expected.hash) return undefined;
  const text = 'its hash is not the one that was noted: the chain was computed again';
  return { kind: 'changed', sequence, id, text };
}

/** Compares the last link with the stored head. */
function checkEnd(last: ChainHead, head: ChainHead, expected?: ChainHead): BrokenLink | undefined {
  const removed = (text: string): BrokenLink => ({
    kind: 'removed',
    sequence: last.sequence + 1,
    id: undefined,
    text,
  });
  if (last.sequence < head.sequence) return removed(`the newest is number ${last.sequence}`);
  if (last.hash !== head.hash) {
    const text = 'the hash of the newest activity is not the stored head';
    return { kind: 'changed', sequence: head.sequence, id: undefined, text };
  }
  if (expected && expected.sequence > head.sequence)
    return removed(`number ${expected.sequence} was noted as the head`);
  return undefined;
}

/** Reads the head again, because activities may have been added since. */
async function findBeyondHead(db: Db, organizationId: string): Promise<BrokenLink | undefined> {
  const head = await readHead(db, organizationId);
  const row = await findLinkAfter(db, organizationId, head.sequence);
  return row && { kind: 'inserted', ...row, text: `the head is number ${head.sequence}` };
}

/** An inserted row looks like a changed one if it is read before the real one. */
async function explain(db: Db, broken: BrokenLink, last: ChainHead, organizationId: string): Promise<BrokenLink> {
  if (broken.kind !== 'changed') return broken;
  const rows = await listLinksAt(db, organizationId, broken.sequence);
  const real = rows.find((row) => isNext(row, last));
  const inserted = rows.find((row) => row !== real);
  if (!real || !inserted) return broken;
  return { ...broken, kind: 'inserted', id: inserted.id, text: `activity ${real.id} has the same number` };
}
