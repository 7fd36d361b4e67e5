/** Of one trace. */
export const MAX_SPANS = 10_000;
export const MAX_LOGS = 10_000;
/** Of the spans, and of the logs. */
export const MAX_TRACE_BYTES = 20 * 2 ** 20;

/** Spans that operations and the service map read. Beyond it, they read one in so many traces. */
export const MAX_SAMPLED_SPANS = 500_000;

export const MAX_OPERATIONS = 500;
export const DEFAULT_OPERATIONS = 100;

/** Traces of one search. */
export const MAX_TRACES = 200;
export const DEFAULT_TRACES = 50;

export const MAX_NODES = 500;
export const MAX_EDGES = 1000;
