import { compress, type Encoding, MIN_COMPRESSED_BYTES } from '../kernel/encodings.ts';
import { createEtag, toEncodedEtag } from '../kernel/etag.ts';
import type { MaybePromise } from '../kernel/maybe-promise.ts';

const KEPT_BYTES = 32 * 1024 * 1024;
/** What an answer costs besides its bytes. */
const ENTRY_BYTES = 500;

/** Bytes as they go over the wire, and what they are called. */
export interface Encoded {
  bytes: Buffer;
  etag: string;
  encoding: Encoding | undefined;
}

/** One answer, in every encoding that somebody asked for so far. */
export interface Rendering {
  plain: Encoded;
  encoded: Map<Encoding, Encoded>;
  /** Set for a dashboard that comes from a file. */
  provisionedFrom: string | undefined;
}

/** `data` is the JSON that the tag names: of one dashboard, the text it is stored as. */
export const rendered = (data: string, provisionedFrom?: string): Rendering => ({
  plain: { bytes: Buffer.from(`{"data":${data}}`), etag: createEtag(data), encoding: undefined },
  encoded: new Map(),
  provisionedFrom,
});

interface Kept {
  revision: number;
  bytes: number;
  answers: Map<string, Rendering>;
}

/** Answers as they were sent, kept until the organization's dashboards change. */
export function createRenderings() {
  const kept = new Map<string, Kept>();
  let keptBytes = 0;

  function forget(organizationId: string): void {
    keptBytes -= kept.get(organizationId)?.bytes ?? 0;
    kept.delete(organizationId);
  }

  /** The organizations that came first make room. */
  function count(organizationId: string, bytes: number): void {
    const own = kept.get(organizationId);
    if (!own) return;
    own.bytes += bytes;
    keptBytes += bytes;
    for (const [oldest] of kept) {
      if (keptBytes <= KEPT_BYTES) return;
      forget(oldest);
    }
  }

  async function encode(organizationId: string, { plain, encoded }: Rendering, encoding: Encoding): Promise<Encoded> {
    const bytes = await compress(plain.bytes, encoding, 'cached');
    const made: Encoded = { bytes, etag: toEncodedEtag(plain.etag, encoding), encoding };
    encoded.set(encoding, made);
    count(organizationId, bytes.length);
    return made;
  }

  return {
    /** `what` is the id of a dashboard, or empty for the list. */
    find(organizationId: string, revision: number, what: string): Rendering | undefined {
      const own = kept.get(organizationId);
      return own?.revision === revision ? own.answers.get(what) : undefined;
    },

    keep(organizationId: string, revision: number, what: string, rendering: Rendering): Rendering {
      let own = kept.get(organizationId);
      if (own?.revision !== revision) {
        forget(organizationId);
        own = { revision, bytes: 0, answers: new Map() };
        kept.set(organizationId, own);
      }
      own.answers.set(what, rendering);
      count(organizationId, rendering.plain.bytes.length + ENTRY_BYTES);
      return rendering;
    },

    /** Compressed once for all who ask; what is short goes out as it is. */
    encoded(organizationId: string, rendering: Rendering, encoding: Encoding | 'identity'): MaybePromise<Encoded> {
      const { plain, encoded } = rendering;
      if (encoding === 'identity' || plain.bytes.length < MIN_COMPRESSED_BYTES) return plain;
      return encoded.get(encoding) ?? encode(organizationId, rendering, encoding);
    },
  };
}

export type Renderings = ReturnType<typeof createRenderings>;
