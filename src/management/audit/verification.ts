import { type ChainHead, encodeActivity, hashLink } from '../../platform/state/activity-chain.ts';
import type { ActivityRow, Db } from '../../platform/state/tables.ts';
import {
  type Anchor,
  findLastRemoval,
  findLinkAfter,
  listLinks,
  listLinksAt,
  readAnchor,
  readHead,
} from './chain-store.ts';

/** The first broken link of a chain. */
interface BrokenLink {
  kind: 'changed' | 'removed' | 'inserted';
  sequence: number;
  /** The id of the activity; undefined if it was removed. */
  id: string | undefined;
  text: string;
}

export interface Verification {
  /** The verified activities, from the first one that was not removed by retention. */
  activities: number;
  /** What retention removed; its `sequence` is the number of removed activities. */
  removed: Anchor;
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
  for (;;) {
    const removed = await readAnchor(db, organizationId);
    const result = await verifyFrom(db, organizationId, removed, expected);
    // Retention may have removed activities while they were read.
    if (!result.broken || (await readAnchor(db, organizationId)).sequence === removed.sequence) return result;
  }
}

async function verifyFrom(
  db: Db,
  organizationId: string,
  removed: Anchor,
  expected: ChainHead | undefined,
): Promise<Verification> {
  const head = await readHead(db, organizationId);
  let last: ChainHead = removed;
  let broken: BrokenLink | undefined;
  for await (const row of readLinks(db, organizationId, head.sequence)) {
    broken = checkLink(row, last) ?? checkExpected(row, expected);
    if (broken) break;
    last = { sequence: row.sequence, hash: row.hash };
  }
  broken = broken ? await explain(db, broken, last, organizationId) : checkEnd(last, head, expected);
  broken ??= await findBeyondHead(db, organizationId);
  broken ??= checkRemoved(removed, expected, await findLastRemoval(db, organizationId));
  return { activities: last.sequence - removed.sequence, removed, head, broken };
}

/** Every removal by retention is an activity of the chain, which therefore confirms the anchor. */
function checkRemoved(removed: Anchor, expected?: ChainHead, document?: string): BrokenLink | undefined {
  const { sequence, hash } = removed;
  const reject = (text: string): BrokenLink => ({ kind: 'removed', sequence, id: undefined, text });
  if (sequence > 0) {
    const { after }: { after?: { through?: unknown; hash?: unknown } } = JSON.parse(document ?? '{}');
    if (after?.through !== sequence || after.hash !== hash)
      return reject('no activity records that retention removed it');
  }
  if (!expected || expected.sequence > sequence || (expected.sequence === sequence && expected.hash === hash))
    return undefined;
  return reject(`number ${expected.sequence} was noted as the head, and retention has removed it; note a newer head`);
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

/** Checks that a row follows the last link. */
export function checkLink(row: ActivityRow, last: ChainHead): BrokenLink | undefined {
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
