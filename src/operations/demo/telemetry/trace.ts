import type { Journey, SpanTemplate } from './journeys.ts';
import type { Pod } from './services.ts';

/** The customer of a trace. */
export interface Customer {
  id: string;
  tier: string;
  region: string;
}

/** One span of a trace. */
export interface TraceSpan {
  template: SpanTemplate;
  pod: Pod;
  spanId: string;
  parentId: string;
  startMs: number;
  durationMs: number;
  /** The HTTP status; 0 if the span has none. */
  status: number;
  failure: Failure | undefined;
}

export interface Failure {
  type: string;
  message: string;
}

export interface Trace {
  journey: Journey['name'];
  traceId: string;
  customer: Customer;
  spans: TraceSpan[];
}
