import { setImmediate as nextTurn } from 'node:timers/promises';
import { listDaysBetween } from '../kernel/days.ts';
import { chcFromMicros } from '../kernel/money.ts';
import { type Cost, totalMicros } from './cost.ts';
import type { Costs } from './costs.ts';
import type { Window } from './window.ts';

const KEPT_BYTES = 32 * 1024 * 1024;
/** What an entry costs besides its text, so that a crowd of empty windows counts too. */
const ENTRY_BYTES = 500;
const JOINED_BYTES = 1024 * 1024;
/**
 * How many days one query reads: few enough to keep its rows small, many enough to save round trips. The first ones
 * read less, so that a long answer begins soon.
 */
const DAYS_PER_QUERY = [1, 1, 2, 4];
const MOST_DAYS_PER_QUERY = 8;

export type Headers = Readonly<Record<string, string>>;

interface Kept {
  costRevision: number;
  headers: Headers;
  pieces: Buffer[];
  bytes: number;
}

/**
 * Windows of the ledger as they go over the wire: `…],"grandTotalCHC":n}`, in pieces of a few days. A window is
 * rendered once and kept until the organization's ledger changes; one that is too large to keep is rendered as it is
 * sent. The grand total stands last: by then it is the sum of exactly what was sent.
 */
export function createRenderings({ costs, render }: { costs: Costs; render: (cost: Cost) => string }) {
  const kept = new Map<string, Kept>();
  let keptBytes = 0;

  const idOf = (organizationId: string, { from, to }: Window) => `${organizationId} ${from} ${to}`;

  function keep(id: string, rendering: Kept): void {
    forget(id);
    for (const [oldest] of kept) {
      if (keptBytes + rendering.bytes <= KEPT_BYTES) break;
      forget(oldest);
    }
    kept.set(id, rendering);
    keptBytes += rendering.bytes;
  }

  function forget(id: string): void {
    keptBytes -= kept.get(id)?.bytes ?? 0;
    kept.delete(id);
  }

  return {
    /** What was rendered before and is still true. */
    find(organizationId: string, costRevision: number, window: Window): Readonly<Kept> | undefined {
      const found = kept.get(idOf(organizationId, window));
      return found?.costRevision === costRevision ? found : undefined;
    },

    /** Renders piece by piece; the memory of one piece is enough for an answer of any size. */
    async *render(
      organizationId: string,
      costRevision: number,
      window: Window,
      headers: Headers,
    ): AsyncGenerator<Buffer> {
      const days = listDaysBetween(window.from, window.to);
      let pieces: Buffer[] | undefined = [];
      let bytes = 0;
      let micros = 0;
      for (let start = 0, query = 0; start < days.length; query++) {
        const end = start + (DAYS_PER_QUERY[query] ?? MOST_DAYS_PER_QUERY);
        const records = await costs.inDays(organizationId, days.slice(start, end));
        start = end;
        micros += records.reduce((sum, cost) => sum + totalMicros(cost), 0);
        const isLast = end >= days.length;
        const separator = bytes > 0 && records.length > 0 ? ',' : '';
        const ending = isLast ? `],"grandTotalCHC":${chcFromMicros(micros)}}` : '';
        const piece = Buffer.from(separator + records.map(render).join(',') + ending);
        bytes += piece.length;
        pieces = bytes > KEPT_BYTES ? undefined : pieces;
        pieces?.push(piece);
        if (isLast && pieces)
          keep(idOf(organizationId, window), {
            costRevision,
            headers,
            pieces: joined(pieces, bytes),
            bytes: bytes + ENTRY_BYTES,
          });
        yield piece;
        // What was rendered is sent before more is read, and others get their turn.
        if (!isLast) await nextTurn();
      }
    },
  };
}

/** A short answer is cheaper to send from one buffer; joining a long one would hold it twice. */
const joined = (pieces: Buffer[], bytes: number): Buffer[] =>
  bytes <= JOINED_BYTES ? [Buffer.concat(pieces)] : pieces;
