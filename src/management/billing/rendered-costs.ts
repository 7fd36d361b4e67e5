import { LRUCache } from 'lru-cache';
import { chcFromMicros } from '../../kernel/numbers/money.ts';
import { yieldToEventLoop } from '../../kernel/tasks/event-loop.ts';
import { listDaysBetween } from '../../kernel/time/days.ts';
import { type Cost, totalMicros } from './cost.ts';
import type { CostSelection, Costs } from './costs.ts';
import type { Window } from './window.ts';

const CACHE_BYTES = 32 * 1024 * 1024;
/** The size of a cache entry besides its body, so that many empty windows count too. */
const ENTRY_BYTES = 500;
const MAX_JOINED_BYTES = 1024 * 1024;
/**
 * The number of days read by each query: few enough to keep the rows in memory small, many enough to save round trips.
 * The first queries read fewer, so that the first bytes are sent early.
 */
const DAYS_PER_QUERY = [1, 1, 2, 4];
const MAX_DAYS_PER_QUERY = 8;

export type Headers = Readonly<Record<string, string>>;

/** The rest of a response body after `"costs":[`. */
interface RenderedWindow {
  costRevision: number;
  headers: Headers;
  chunks: Buffer[];
  bytes: number;
}

/**
 * Renders cost records as JSON: `…],"grandTotalCHC":n}`, in chunks of a few days. A window is rendered once and cached
 * until the cost revision of the organization changes. The grand total comes last, so it is the sum of exactly the
 * records that were sent.
 */
export function createRenderedCosts({ costs, render }: { costs: Costs; render: (cost: Cost) => string }) {
  // Windows larger than the cache are not cached.
  const cache = new LRUCache<string, RenderedWindow>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ bytes }) => bytes + ENTRY_BYTES,
  });

  const cacheKey = (organizationId: string, { from, to }: Window) => `${organizationId} ${from} ${to}`;

  return {
    findCached(organizationId: string, costRevision: number, window: Window): Readonly<RenderedWindow> | undefined {
      const cached = cache.get(cacheKey(organizationId, window));
      return cached?.costRevision === costRevision ? cached : undefined;
    },

    /**
     * Renders chunk by chunk, so memory use does not grow with the size of the window. A selection is not cached:
     * it may depend on more than the costs.
     */
    async *render(
      organizationId: string,
      costRevision: number,
      window: Window,
      headers: Headers,
      selection?: CostSelection,
    ): AsyncGenerator<Buffer> {
      let chunks: Buffer[] | undefined = selection ? undefined : [];
      let bytes = 0;
      for await (const chunk of renderChunks(organizationId, window, selection)) {
        bytes += chunk.length;
        chunks = bytes > CACHE_BYTES ? undefined : chunks;
        chunks?.push(chunk);
        yield chunk;
      }
      if (chunks)
        cache.set(cacheKey(organizationId, window), {
          costRevision,
          headers,
          chunks: joinShort(chunks, bytes),
          bytes,
        });
    },
  };

  async function* renderChunks(
    organizationId: string,
    window: Window,
    selection?: CostSelection,
  ): AsyncGenerator<Buffer> {
    let isEmpty = true;
    let micros = 0;
    for (const [query, days] of splitWindow(window).entries()) {
      // The chunk before is sent first, and other requests can run.
      if (query > 0) await yieldToEventLoop();
      const records = await costs.list(organizationId, days, selection);
      micros += records.reduce((sum, cost) => sum + totalMicros(cost.micros), 0);
      const separator = isEmpty || records.length === 0 ? '' : ',';
      const ending = days.to === window.to ? `],"grandTotalCHC":${chcFromMicros(micros)}}` : '';
      isEmpty &&= records.length === 0;
      yield Buffer.from(separator + records.map(render).join(',') + ending);
    }
  }
}

/** The part of the window that each query reads. */
function splitWindow({ from, to }: Window): Window[] {
  const days = listDaysBetween(from, to);
  const parts: Window[] = [];
  while (days.length > 0) {
    const part = days.splice(0, DAYS_PER_QUERY[parts.length] ?? MAX_DAYS_PER_QUERY);
    parts.push({ from: part[0] ?? from, to: part.at(-1) ?? to });
  }
  return parts;
}

/** A short body is cheaper to send from one buffer; joining a long one would double its memory. */
const joinShort = (chunks: Buffer[], bytes: number): Buffer[] =>
  bytes <= MAX_JOINED_BYTES ? [Buffer.concat(chunks)] : chunks;
