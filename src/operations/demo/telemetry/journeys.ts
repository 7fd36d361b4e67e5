import type { SpanRow } from '../../../observability/own-telemetry/rows.ts';
import type { Random } from './random.ts';
import type { ServiceName } from './services.ts';

/** The template of a span, and of the span that it waits for. */
export interface SpanTemplate {
  service: ServiceName;
  name: string;
  kind: SpanRow['SpanKind'];
  /** Excluding the time it waits for `next`. */
  medianMs: number;
  attributes: Record<string, string>;
  /** True for the payments database, which the incident slows down. */
  isLedger?: boolean;
  next?: SpanTemplate;
}

export interface Journey {
  name: 'search' | 'product' | 'checkout' | 'ingest';
  first: SpanTemplate;
}

const server = (
  service: ServiceName,
  method: string,
  route: string,
  medianMs: number,
  next?: SpanTemplate,
): SpanTemplate => ({
  service,
  name: `${method} ${route}`,
  kind: 'Server',
  medianMs,
  attributes: { 'http.request.method': method, 'http.route': route },
  ...(next && { next }),
});

const query = (
  service: ServiceName,
  name: string,
  medianMs: number,
  attributes: Record<string, string>,
): SpanTemplate => ({
  service,
  name,
  kind: 'Client',
  medianMs,
  attributes,
});

const ledger: SpanTemplate = {
  ...query('payments', 'SELECT ledger_entries', 38, {
    'db.system': 'postgresql',
    'db.operation': 'SELECT',
    'db.statement': 'SELECT balance FROM ledger_entries WHERE account_id = $1 FOR UPDATE',
    'server.address': 'ledger-db-0.shop.internal',
  }),
  isLedger: true,
};

const search = server(
  'gateway',
  'GET',
  '/api/search',
  9,
  server('search', 'GET', '/search', 8, query('search', 'index.query', 18, { 'db.system': 'opensearch' })),
);
const product = server(
  'gateway',
  'GET',
  '/api/products/{productId}',
  7,
  server('search', 'GET', '/documents/{documentId}', 9),
);
const checkout = server(
  'gateway',
  'POST',
  '/api/checkout',
  11,
  server('checkout', 'POST', '/checkout', 48, server('payments', 'POST', '/charge', 30, ledger)),
);
const ingest: SpanTemplate = {
  service: 'ingest',
  name: 'orders process',
  kind: 'Consumer',
  medianMs: 22,
  attributes: { 'messaging.system': 'kafka', 'messaging.destination.name': 'orders' },
  next: query('ingest', 'INSERT orders', 31, { 'db.system': 'clickhouse', 'db.operation': 'INSERT' }),
};

export function pickJourney(random: Random): Journey {
  const at = random.next();
  if (at < 0.45) return { name: 'search', first: search };
  if (at < 0.7) return { name: 'product', first: product };
  if (at < 0.9) return { name: 'checkout', first: checkout };
  return { name: 'ingest', first: ingest };
}
