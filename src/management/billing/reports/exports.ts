import { yieldToEventLoop } from '../../../kernel/tasks/event-loop.ts';
import type { Db } from '../../../platform/state/tables.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import type { Services } from '../../services/services.ts';
import type { Prices } from '../prices/prices.ts';
import type { Window } from '../window.ts';
import { listCharges, type RecordWithEntries } from './charge.ts';
import { CSV_HEADER, formatCsvLine } from './csv-columns.ts';
import { readPages } from './export-store.ts';
import { FOCUS_VERSION } from './focus-columns.ts';
import { createFocusFormatter, FOCUS_HEADER } from './focus-lines.ts';

export const EXPORT_FORMATS = ['csv', 'focus'] as const;
type ExportFormat = (typeof EXPORT_FORMATS)[number];

interface Options {
  db: Db;
  organizations: Organizations;
  services: Services;
  prices: Prices;
}

export function createExports({ db, organizations, services, prices }: Options) {
  async function createRecordFormatter(
    organizationId: string,
    format: ExportFormat,
  ): Promise<(record: RecordWithEntries) => string> {
    if (format === 'csv') return ({ cost }) => formatCsvLine(cost);
    const [organization, ownServices, books] = await Promise.all([
      organizations.get(organizationId),
      services.list(organizationId),
      prices.list(),
    ]);
    const formatCharge = createFocusFormatter({ organization, services: ownServices, books });
    return (record) => listCharges(record).map(formatCharge).join('');
  }

  return {
    /** Renders the file chunk by chunk, so memory use does not grow with the window. */
    async *render(organizationId: string, window: Window, format: ExportFormat): AsyncGenerator<Buffer> {
      const formatRecord = await createRecordFormatter(organizationId, format);
      const buffer = createChunkBuffer();
      buffer.add(format === 'csv' ? CSV_HEADER : FOCUS_HEADER);
      for await (const page of readPages(db, organizationId, window, { withEntries: format === 'focus' })) {
        for (const record of page) {
          const full = buffer.add(formatRecord(record));
          if (full) yield full;
        }
        // Other requests run even if neither store nor client makes this one wait.
        await yieldToEventLoop();
      }
      yield buffer.rest();
    },
  };
}

const CHUNK_BYTES = 128 * 1024;
/** The maximum size of a UTF-16 unit in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

/** Encodes lines at once: pages of long strings would live until the next full garbage collection. */
function createChunkBuffer() {
  let bytes = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let length = 0;
  const rest = () => bytes.subarray(0, length);
  return {
    rest,
    /** Returns the current chunk when the text does not fit in it and starts a new one. */
    add(text: string): Buffer | undefined {
      const needed = text.length * MAX_BYTES_PER_UNIT;
      const full = length + needed > bytes.length && length > 0 ? rest() : undefined;
      if (length + needed > bytes.length) {
        bytes = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, needed));
        length = 0;
      }
      length += bytes.write(text, length);
      return full;
    },
  };
}

export const formatFileName = ({ from, to }: Window, format: ExportFormat): string =>
  `${format === 'csv' ? 'usage-cost' : `focus-${FOCUS_VERSION}`}-${from}-${to}.csv`;
