import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Organizations } from '../../organizations/organizations.ts';
import type { Services } from '../../services/services.ts';
import type { Db } from '../../state/tables.ts';
import type { Prices } from '../prices/prices.ts';
import type { Window } from '../window.ts';
import { type Booked, chargesOf } from './charge.ts';
import { pagesOf } from './export-store.ts';
import { createFocusLines, FOCUS_HEADER, FOCUS_VERSION } from './focus.ts';
import { CSV_HEADER, csvLine } from './plain-csv.ts';

export const FORMATS = ['csv', 'focus'] as const;
export type Format = (typeof FORMATS)[number];

interface Options {
  db: Db;
  organizations: Organizations;
  services: Services;
  prices: Prices;
}

export function createExports({ db, organizations, services, prices }: Options) {
  async function linesOf(organizationId: string, format: Format): Promise<(record: Booked) => string> {
    if (format === 'csv') return ({ cost }) => csvLine(cost);
    const [organization, owned, books] = await Promise.all([
      organizations.get(organizationId),
      services.list(organizationId),
      prices.list(),
    ]);
    const lineOf = createFocusLines({ organization, services: owned, books });
    return (record) => chargesOf(record).map(lineOf).join('');
  }

  return {
    /** A file in pieces, each made when it is asked for: the memory of one piece is enough for any span. */
    async *pieces(organizationId: string, window: Window, format: Format): AsyncGenerator<Buffer> {
      const linesFor = await linesOf(organizationId, format);
      const piece = createPiece();
      piece.add(format === 'csv' ? CSV_HEADER : FOCUS_HEADER);
      for await (const page of pagesOf(db, organizationId, window, { withEntries: format === 'focus' })) {
        for (const record of page) {
          const full = piece.add(linesFor(record));
          if (full) yield full;
        }
        // Others get their turn, also where the store answers at once and the client takes all there is.
        await nextTurn();
      }
      yield piece.rest();
    },
  };
}

const PIECE_BYTES = 128 * 1024;
/** The most that one unit of a JavaScript string takes in UTF-8. */
const BYTES_PER_UNIT = 3;

/** Lines go straight into bytes: pages of text as long strings would live until the next full garbage collection. */
function createPiece() {
  let bytes = Buffer.allocUnsafeSlow(PIECE_BYTES);
  let length = 0;
  const rest = () => bytes.subarray(0, length);
  return {
    rest,
    /** Answers what came before, once that fills a piece. */
    add(text: string): Buffer | undefined {
      const needed = text.length * BYTES_PER_UNIT;
      const full = length + needed > bytes.length && length > 0 ? rest() : undefined;
      if (length + needed > bytes.length) {
        bytes = Buffer.allocUnsafeSlow(Math.max(PIECE_BYTES, needed));
        length = 0;
      }
      length += bytes.write(text, length);
      return full;
    },
  };
}

export const fileNameOf = ({ from, to }: Window, format: Format): string =>
  `${format === 'csv' ? 'usage-cost' : `focus-${FOCUS_VERSION}`}-${from}-${to}.csv`;
