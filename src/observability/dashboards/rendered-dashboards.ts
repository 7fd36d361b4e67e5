import { LRUCache } from 'lru-cache';
import { compress, type Encoding, MIN_COMPRESSED_BYTES } from '../../kernel/encodings.ts';
import { createEtag, toEncodedEtag } from '../../kernel/etag.ts';

const CACHED_BYTES = 32 * 1024 * 1024;
/** Memory of an entry in addition to its bytes. */
const ENTRY_BYTES = 500;

/** A response body in one encoding, with the headers that depend on it. */
export interface RenderedBody {
  bytes: Buffer;
  etag: string;
  /** The etag of the uncompressed body, which `If-None-Match` may name too. */
  plainEtag: string;
  encoding: Encoding | undefined;
  /** Set if the dashboard comes from a file. */
  provisionedFrom: string | undefined;
}

/** `data` is the JSON of one dashboard, or of the list. */
export function renderBody(data: string, provisionedFrom?: string, etag = createEtag(data)): RenderedBody {
  return { bytes: Buffer.from(`{"data":${data}}`), etag, plainEtag: etag, encoding: undefined, provisionedFrom };
}

/** Identifies a body in the cache. The revision changes with every change to the organization's dashboards. */
export interface BodyKey {
  organizationId: string;
  revision: number;
  /** Unique in the organization: a dashboard, or the list. */
  name: string;
}

type AcceptedEncoding = Encoding | 'identity';

/** Response bodies, cached in every requested encoding until the organization's dashboards change. */
export function createRenderedDashboards() {
  const cache = new LRUCache<string, { revision: number; body: RenderedBody }>({
    maxSize: CACHED_BYTES,
    sizeCalculation: ({ body }) => body.bytes.length + ENTRY_BYTES,
  });

  function find({ organizationId, revision, name }: BodyKey, encoding: AcceptedEncoding): RenderedBody | undefined {
    const cached = cache.get(cacheKey(organizationId, name, encoding));
    return cached?.revision === revision ? cached.body : undefined;
  }

  function store({ organizationId, revision, name }: BodyKey, encoding: AcceptedEncoding, body: RenderedBody): void {
    cache.set(cacheKey(organizationId, name, encoding), { revision, body });
  }

  return {
    find,

    /** Renders and caches a body. Short bodies are not compressed. */
    async render(
      key: BodyKey,
      encoding: AcceptedEncoding,
      renderPlain: () => Promise<RenderedBody>,
    ): Promise<RenderedBody> {
      let plain = find(key, 'identity');
      if (!plain) {
        plain = await renderPlain();
        store(key, 'identity', plain);
      }
      if (encoding === 'identity') return plain;
      const body = plain.bytes.length < MIN_COMPRESSED_BYTES ? plain : await compressBody(plain, encoding);
      store(key, encoding, body);
      return body;
    },
  };
}

const cacheKey = (organizationId: string, name: string, encoding: AcceptedEncoding): string =>
  `${organizationId} ${name} ${encoding}`;

async function compressBody(plain: RenderedBody, encoding: Encoding): Promise<RenderedBody> {
  const bytes = await compress(plain.bytes, encoding, 'cached');
  return { ...plain, bytes, etag: toEncodedEtag(plain.etag, encoding), encoding };
}
