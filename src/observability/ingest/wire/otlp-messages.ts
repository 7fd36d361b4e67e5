/** How the value of a field is written in JSON and in protobuf. */
export type ScalarKind =
  | 'string'
  | 'base64'
  | 'hex'
  | 'bool'
  | 'double'
  | 'fixed32'
  | 'fixed64'
  | 'sfixed64'
  | 'int64'
  | 'sint32'
  | 'uint32'
  | 'uint64';

export interface Field {
  number: number;
  kind: ScalarKind | (() => Message);
  isRepeated?: true;
  /** Its items are what is accepted or rejected: one that is not valid does not concern the others. */
  isRecord?: true;
}

/** The fields of a message by their names in JSON. */
export type Message = Readonly<Record<string, Field>>;

const one = (number: number, kind: Field['kind']): Field => ({ number, kind });
const many = (number: number, kind: Field['kind']): Field => ({ number, kind, isRepeated: true });
const records = (number: number, kind: Field['kind']): Field => ({ number, kind, isRepeated: true, isRecord: true });

const anyValue: Message = {
  stringValue: one(1, 'string'),
  boolValue: one(2, 'bool'),
  intValue: one(3, 'int64'),
  doubleValue: one(4, 'double'),
  arrayValue: one(5, () => arrayValue),
  kvlistValue: one(6, () => keyValueList),
  bytesValue: one(7, 'base64'),
};
const arrayValue: Message = { values: many(1, () => anyValue) };
const keyValue: Message = { key: one(1, 'string'), value: one(2, () => anyValue) };
const keyValueList: Message = { values: many(1, () => keyValue) };
const resource: Message = { attributes: many(1, () => keyValue) };
const scope: Message = {
  name: one(1, 'string'),
  version: one(2, 'string'),
  attributes: many(3, () => keyValue),
  droppedAttributesCount: one(4, 'uint32'),
};

/** A request: resources with scopes with records. */
const createRequest = (resources: string, scopes: string, items: string, ofItems: Field): Message => {
  const ofScope: Message = {
    scope: one(1, () => scope),
    [items]: ofItems,
    schemaUrl: one(3, 'string'),
  };
  const ofResource: Message = {
    resource: one(1, () => resource),
    [scopes]: many(2, () => ofScope),
    schemaUrl: one(3, 'string'),
  };
  return { [resources]: many(1, () => ofResource) };
};

const logRecord: Message = {
  timeUnixNano: one(1, 'fixed64'),
  severityNumber: one(2, 'uint32'),
  severityText: one(3, 'string'),
  body: one(5, () => anyValue),
  attributes: many(6, () => keyValue),
  flags: one(8, 'fixed32'),
  traceId: one(9, 'hex'),
  spanId: one(10, 'hex'),
  observedTimeUnixNano: one(11, 'fixed64'),
  eventName: one(12, 'string'),
};

const event: Message = {
  timeUnixNano: one(1, 'fixed64'),
  name: one(2, 'string'),
  attributes: many(3, () => keyValue),
};
const link: Message = {
  traceId: one(1, 'hex'),
  spanId: one(2, 'hex'),
  traceState: one(3, 'string'),
  attributes: many(4, () => keyValue),
};
const status: Message = { message: one(2, 'string'), code: one(3, 'uint32') };
const span: Message = {
  traceId: one(1, 'hex'),
  spanId: one(2, 'hex'),
  traceState: one(3, 'string'),
  parentSpanId: one(4, 'hex'),
  name: one(5, 'string'),
  kind: one(6, 'uint32'),
  startTimeUnixNano: one(7, 'fixed64'),
  endTimeUnixNano: one(8, 'fixed64'),
  attributes: many(9, () => keyValue),
  events: many(11, () => event),
  links: many(13, () => link),
  status: one(15, () => status),
};

const exemplar: Message = {
  timeUnixNano: one(2, 'fixed64'),
  asDouble: one(3, 'double'),
  spanId: one(4, 'hex'),
  traceId: one(5, 'hex'),
  asInt: one(6, 'sfixed64'),
  filteredAttributes: many(7, () => keyValue),
};
const numberPoint: Message = {
  startTimeUnixNano: one(2, 'fixed64'),
  timeUnixNano: one(3, 'fixed64'),
  asDouble: one(4, 'double'),
  exemplars: many(5, () => exemplar),
  asInt: one(6, 'sfixed64'),
  attributes: many(7, () => keyValue),
  flags: one(8, 'uint32'),
};
const histogramPoint: Message = {
  startTimeUnixNano: one(2, 'fixed64'),
  timeUnixNano: one(3, 'fixed64'),
  count: one(4, 'fixed64'),
  sum: one(5, 'double'),
  bucketCounts: many(6, 'fixed64'),
  explicitBounds: many(7, 'double'),
  exemplars: many(8, () => exemplar),
  attributes: many(9, () => keyValue),
  flags: one(10, 'uint32'),
  min: one(11, 'double'),
  max: one(12, 'double'),
};
const buckets: Message = { offset: one(1, 'sint32'), bucketCounts: many(2, 'uint64') };
const exponentialPoint: Message = {
  attributes: many(1, () => keyValue),
  startTimeUnixNano: one(2, 'fixed64'),
  timeUnixNano: one(3, 'fixed64'),
  count: one(4, 'fixed64'),
  sum: one(5, 'double'),
  scale: one(6, 'sint32'),
  zeroCount: one(7, 'fixed64'),
  positive: one(8, () => buckets),
  negative: one(9, () => buckets),
  flags: one(10, 'uint32'),
  exemplars: many(11, () => exemplar),
  min: one(12, 'double'),
  max: one(13, 'double'),
};
const quantile: Message = { quantile: one(1, 'double'), value: one(2, 'double') };
const summaryPoint: Message = {
  startTimeUnixNano: one(2, 'fixed64'),
  timeUnixNano: one(3, 'fixed64'),
  count: one(4, 'fixed64'),
  sum: one(5, 'double'),
  quantileValues: many(6, () => quantile),
  attributes: many(7, () => keyValue),
  flags: one(8, 'uint32'),
};
const createData = (point: Message): Message => ({
  dataPoints: records(1, () => point),
  aggregationTemporality: one(2, 'uint32'),
  isMonotonic: one(3, 'bool'),
});
const [numbers, histograms, exponentials, summaries] = [
  createData(numberPoint),
  createData(histogramPoint),
  createData(exponentialPoint),
  createData(summaryPoint),
];
const metric: Message = {
  name: one(1, 'string'),
  description: one(2, 'string'),
  unit: one(3, 'string'),
  gauge: one(5, () => numbers),
  sum: one(7, () => numbers),
  histogram: one(9, () => histograms),
  exponentialHistogram: one(10, () => exponentials),
  summary: one(11, () => summaries),
};

export const REQUEST_MESSAGES = {
  logs: createRequest(
    'resourceLogs',
    'scopeLogs',
    'logRecords',
    records(2, () => logRecord),
  ),
  traces: createRequest(
    'resourceSpans',
    'scopeSpans',
    'spans',
    records(2, () => span),
  ),
  metrics: createRequest(
    'resourceMetrics',
    'scopeMetrics',
    'metrics',
    many(2, () => metric),
  ),
} as const;

/** A kind of telemetry. */
export type Signal = keyof typeof REQUEST_MESSAGES;

export const SIGNALS = Object.keys(REQUEST_MESSAGES) as Signal[];
