import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { StorableText } from '../../kernel/schemas/storable-text.ts';
import { Moment } from '../charts/schema.ts';
import { WHERE_LANGUAGES } from '../charts/series-schema.ts';
import {
  MAX_EDGES,
  MAX_LOGS,
  MAX_NODES,
  MAX_OPERATIONS,
  MAX_SAMPLED_SPANS,
  MAX_SPANS,
  MAX_TRACE_BYTES,
  MAX_TRACES,
} from './limits.ts';

const MAX_FILTERS = 50;
const Nanoseconds = (description: string) => Type.Number({ description });
const Offset = Nanoseconds('Nanoseconds after the start of the trace; negative if before it');
const UnixNanos = Type.String({ description: 'Nanoseconds since 1970' });
const SourceId = (description: string) => Type.Optional(StorableText({ minLength: 1, maxLength: 64, description }));

/** The path accepts any text, so that the message names the rule. */
export const TracePath = Type.Object({
  traceId: Type.String({ description: '32 hexadecimal digits in any case, also with the hyphens of a UUID' }),
});

export const TraceSources = Type.Object(
  {
    sourceId: SourceId('The source of the spans. Default: traces'),
    logSourceId: SourceId('The source of the logs. Default: the logSourceId of the source, or logs'),
  },
  { additionalProperties: false },
);

const Attributes = Type.Object({}, { additionalProperties: { type: 'string' } });

const TraceEvent = NamedObject('TraceSpanEvent', {
  time: UnixNanos,
  offsetNs: Offset,
  name: Type.String(),
  attributes: Attributes,
});

const TraceLink = NamedObject('TraceSpanLink', {
  traceId: Type.String(),
  spanId: Type.String(),
  traceState: Type.String(),
  attributes: Attributes,
});

const Span = NamedObject('TraceSpan', {
  spanId: Type.String(),
  parentSpanId: Type.String({ description: 'Empty for a root' }),
  parentIndex: Type.Optional(
    Type.Integer({
      description: 'The index of the parent in spans. A root and an orphan have none; there are no cycles',
    }),
  ),
  name: Type.String(),
  kind: Type.String({ description: 'As stored: Server, Client, Producer, Consumer, Internal' }),
  service: Type.String(),
  start: UnixNanos,
  offsetNs: Offset,
  durationNs: Nanoseconds('Rounded above 2^53, which are 104 days'),
  status: Type.String({ description: 'As stored: Unset, Ok, Error' }),
  isError: Type.Boolean(),
  statusMessage: Type.String(),
  attributes: Attributes,
  resourceAttributes: Attributes,
  scope: Type.Object({ name: Type.String(), version: Type.String() }),
  events: Type.Array(TraceEvent),
  links: Type.Array(TraceLink),
  isOrphan: Type.Boolean({
    description: 'The span names a parent that is not among the spans, or its parents form a cycle',
  }),
  hasClockSkew: Type.Boolean({
    description:
      'The parent is of another service, and the span starts more than 1 ms before it or ends more than 1 ms after it. Consumers may end later. Times are returned as they were sent',
  }),
  selfTimeNs: Nanoseconds('The part of the duration in which no child ran'),
  isCritical: Type.Boolean({ description: 'The span is on the critical path' }),
  criticalNs: Nanoseconds('The time of the critical path that this span itself spent'),
  criticalSegments: Type.Array(Type.Object({ startNs: Offset, endNs: Offset }), {
    description: 'The parts of the critical path that this span itself spent, in time order',
  }),
});

const Log = NamedObject('TraceLog', {
  time: UnixNanos,
  offsetNs: Offset,
  spanId: Type.String({ description: 'Empty if the log has the trace id only' }),
  service: Type.String(),
  severity: Type.String(),
  body: Type.String(),
  attributes: Attributes,
  resourceAttributes: Attributes,
});

const IsoTime = Type.String({ description: 'ISO 8601 with nine decimals, UTC' });

export const TraceRecord = NamedObject('Trace', {
  traceId: Type.String(),
  sourceId: Type.String(),
  logSourceId: Type.String(),
  start: IsoTime,
  end: IsoTime,
  durationNs: Nanoseconds('From the first start to the last end of a span; of the logs if there are no spans'),
  criticalNs: Nanoseconds('The length of the critical path: the duration of the root'),
  spans: Type.Array(Span, { description: 'Earliest first' }),
  logs: Type.Array(Log, { description: 'Earliest first' }),
  services: Type.Array(
    NamedObject('TraceService', {
      name: Type.String(),
      spans: Type.Integer(),
      errors: Type.Integer(),
      selfTimeNs: Nanoseconds('The sum over its spans'),
    }),
    { description: 'By their first span' },
  ),
  totalSpans: Type.Integer({ description: 'All stored spans of the trace' }),
  totalLogs: Type.Integer({ description: 'All stored logs of the trace' }),
  truncated: Type.Boolean({
    description: `The trace has more than ${MAX_SPANS} spans, ${MAX_LOGS} logs or ${MAX_TRACE_BYTES / 2 ** 20} MiB of either; the earliest were kept`,
  }),
});

/** The spans that a request is about. */
const SpanSelection = {
  sourceId: SourceId('A source of kind trace. Default: traces'),
  start: Type.Optional(Moment),
  end: Type.Optional(Moment),
  where: Type.Optional(StorableText({ maxLength: 10_000, description: 'Which spans count. Default: all' })),
  whereLanguage: Type.Optional(Type.Enum([...WHERE_LANGUAGES], { description: 'Default: lucene' })),
  filters: Type.Optional(
    Type.Array(StorableText({ maxLength: 10_000 }), {
      maxItems: MAX_FILTERS,
      description: 'SQL conditions in addition to where',
    }),
  ),
};

const frame = {
  start: Type.Integer({ description: 'Epoch milliseconds' }),
  end: Type.Integer({ description: 'Exclusive' }),
};

const Sampling = NamedObject('TraceSampling', {
  sampled: Type.Boolean({
    description: `The range has more than ${MAX_SAMPLED_SPANS} spans: only some traces were read, chosen by a hash of their id`,
  }),
  oneIn: Type.Integer({ description: '1 if all traces were read. Counts and sums are multiplied by it' }),
  totalSpans: Type.Integer({ description: 'All spans in the range, whatever where says' }),
});

const Requests = Type.Integer({ description: 'An estimate if the response is sampled' });
const P50 = Nanoseconds('Approximate');

export const OperationsBody = NamedObject(
  'TraceOperationsRequest',
  { ...SpanSelection, limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_OPERATIONS })) },
  { additionalProperties: false },
);

export const OperationsRecord = NamedObject('TraceOperations', {
  ...frame,
  sampling: Sampling,
  operations: Type.Array(
    NamedObject('TraceOperation', {
      service: Type.String(),
      name: Type.String({ description: 'The name of the spans' }),
      count: Requests,
      errors: Requests,
      totalNs: Nanoseconds('The sum of the durations'),
      selfTimeNs: Nanoseconds('The sum of the durations without the time in which a child ran'),
      p50Ns: P50,
      p95Ns: P50,
    }),
    { description: 'Most self time first' },
  ),
  totalOperations: Type.Integer({ description: 'Including those beyond the limit' }),
});

const Duration = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }));

const TRACE_ORDERS = ['newest', 'slowest'] as const;

export const TraceSearchBody = NamedObject(
  'TraceSearchRequest',
  {
    ...SpanSelection,
    minDurationNs: Duration('Of the matching span'),
    maxDurationNs: Duration('Of the matching span, inclusive'),
    orderBy: Type.Optional(
      Type.Enum([...TRACE_ORDERS], {
        description: 'By the start or the duration of the matching spans. Default: newest',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_TRACES, description: 'Default: 50' })),
  },
  { additionalProperties: false },
);

export const TraceSearchRecord = NamedObject('TraceSearch', {
  ...frame,
  traces: Type.Array(
    NamedObject('FoundTrace', {
      traceId: Type.String(),
      service: Type.String({ description: 'Of the root, or of the longest span if there is no root' }),
      name: Type.String({ description: 'Of the same span' }),
      hasRoot: Type.Boolean(),
      start: IsoTime,
      durationNs: Nanoseconds('From the first start to the last end of its spans'),
      spans: Type.Integer(),
      errors: Type.Integer(),
      services: Type.Array(Type.String(), { description: 'At most 20' }),
      matchedSpans: Type.Integer({ description: 'Spans that match the request' }),
      matchedDurationNs: Nanoseconds('The longest matching span'),
    }),
  ),
  truncated: Type.Boolean({ description: 'More traces match, or more spans than can be compared' }),
});

export const ServiceMapBody = NamedObject('ServiceMapRequest', SpanSelection, { additionalProperties: false });

const Load = { requests: Requests, errors: Requests, p50Ns: P50, p95Ns: P50 };

const NODE_KINDS = ['service', 'database', 'queue', 'external'] as const;

export const ServiceMapRecord = NamedObject('ServiceMap', {
  ...frame,
  sampling: Sampling,
  nodes: Type.Array(
    NamedObject('ServiceMapNode', {
      id: Type.String(),
      kind: Type.Enum([...NODE_KINDS], {
        description: 'All but services are known from the spans of their clients only',
      }),
      name: Type.String(),
      system: Type.Optional(Type.String({ description: 'Of a database or queue, such as postgresql or kafka' })),
      requests: Requests,
      errors: Requests,
      p50Ns: Type.Optional(Nanoseconds('Of services only')),
      p95Ns: Type.Optional(Nanoseconds('Of services only')),
    }),
    { description: `Most requests first, at most ${MAX_NODES}` },
  ),
  edges: Type.Array(
    NamedObject('ServiceMapEdge', {
      from: Type.String({ description: 'The id of a node' }),
      to: Type.String({ description: 'The id of a node' }),
      ...Load,
    }),
    { description: `Most requests first, at most ${MAX_EDGES}` },
  ),
  truncated: Type.Boolean({ description: 'There are more nodes or edges' }),
});

export type TraceRecord = Static<typeof TraceRecord>;
export type SpanRecord = Static<typeof Span>;
export type LogRecord = Static<typeof Log>;
export type OperationsRecord = Static<typeof OperationsRecord>;
export type TraceSearchRecord = Static<typeof TraceSearchRecord>;
export type ServiceMapRecord = Static<typeof ServiceMapRecord>;
export type Sampling = Static<typeof Sampling>;
