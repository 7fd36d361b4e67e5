import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { StorableText as text } from '../../kernel/schemas/storable-text.ts';
import { TilePreviewBody } from '../charts/schema.ts';
import { WHERE_LANGUAGES } from '../charts/series-schema.ts';
import { CONTEXT_SCOPES } from './context-scopes.ts';

export const MAX_RESULTS = 2000;
export const DEFAULT_RESULTS = 100;
export const MAX_CURSOR_CHARACTERS = 512;
const MAX_FILTERS = 100;
export const MAX_CONDITION_CHARACTERS = 8192;
export const MAX_EXPORTED_ROWS = 100_000;

const Moment = (description: string) => Type.String({ maxLength: 64, description });

const Filter = NamedObject('SearchFilter', {
  type: Type.Enum(['sql']),
  condition: text({ maxLength: MAX_CONDITION_CHARACTERS, description: "Such as ServiceName IN ('checkout')" }),
});

/** Which rows of a source. */
export const matching = {
  sourceId: Type.String({ minLength: 1, maxLength: 64 }),
  where: Type.Optional(text({ maxLength: MAX_CONDITION_CHARACTERS })),
  whereLanguage: Type.Optional(Type.Enum([...WHERE_LANGUAGES], { description: 'Default: lucene' })),
  filters: Type.Optional(Type.Array(Filter, { maxItems: MAX_FILTERS, description: 'Conditions in addition to where' })),
};

export const between = {
  startTime: Type.Optional(Moment('ISO 8601 with an offset. Default: 15 minutes before the end')),
  endTime: Type.Optional(Moment('Exclusive. Default: now')),
};

const Select = Type.Optional(
  text({
    maxLength: 4096,
    description:
      'SQL expressions separated by commas, each with an optional AS name; * for all columns. Default: those of the source',
  }),
);

export const SearchBody = NamedObject('SearchRequest', {
  ...matching,
  ...between,
  select: Select,
  orderBy: Type.Optional(
    text({ maxLength: 1024, description: 'Expressions with ASC or DESC. Default: newest first, which is the fastest' }),
  ),
  maxResults: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_RESULTS, description: `Default: ${DEFAULT_RESULTS}` }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
  cursor: Type.Optional(
    Type.String({
      maxLength: MAX_CURSOR_CHARACTERS,
      description:
        'The nextCursor of the previous response, or start. Not together with orderBy, except newest first; offset is ignored',
    }),
  ),
  maxWaitMs: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: 30_000,
      description: 'Return what was found by then; the cursor continues. Default: 30000. Not for orderBy or offset',
    }),
  ),
  withIds: Type.Optional(Type.Boolean({ description: 'Return the id of each row' })),
  id: Type.Optional(Type.String({ maxLength: 64, description: 'Return this row only, by default all of its columns' })),
});

const Rows = Type.Array(
  NamedObject(
    'SearchRow',
    {},
    { additionalProperties: true, description: 'A member per selected column. Times are ISO 8601 with nanoseconds' },
  ),
);
const RowIds = Type.Array(Type.String(), { description: 'Of the rows in data' });

export const SearchResponse = Type.Object(
  {
    data: Rows,
    rows: Type.Integer({ description: 'The number of rows in data' }),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description:
        'The cursor that continues the search. Null if the whole range was searched, and with orderBy or offset',
    }),
    searchedFrom: Type.String({
      description: 'Everything from this time to the end was searched. ISO 8601 with nanoseconds',
    }),
    ids: Type.Optional(RowIds),
  },
  { description: 'Success' },
);

const { granularity, points, timezone } = TilePreviewBody.properties;

export const HistogramBody = NamedObject('SearchHistogramRequest', {
  ...matching,
  ...between,
  granularity,
  points,
  timezone,
});

export const ContextBody = NamedObject('SearchContextRequest', {
  ...matching,
  time: Moment('The time of the row, with nanoseconds'),
  rangeMs: Type.Optional(
    Type.Integer({ minimum: 100, maximum: 900_000, description: 'How far to look before and after. Default: 30000' }),
  ),
  scope: Type.Optional(
    Type.Enum(Object.keys(CONTEXT_SCOPES) as (keyof typeof CONTEXT_SCOPES)[], {
      description: 'Only rows of the same service, host or pod. Default: all',
    }),
  ),
  value: Type.Optional(text({ maxLength: 1024, description: 'The service, host or pod of the row' })),
  select: Select,
  maxBefore: Type.Optional(Type.Integer({ minimum: 0, maximum: 500, description: 'Default: 50' })),
  maxAfter: Type.Optional(Type.Integer({ minimum: 0, maximum: 500, description: 'Default: 50' })),
});

export const ContextResponse = Type.Object(
  {
    data: Rows,
    rows: Type.Integer(),
    index: Type.Integer({ description: 'The position of the first row of this time in data; -1 if there is none' }),
    ids: RowIds,
    hasMoreBefore: Type.Boolean({ description: 'There are further, older rows in the range' }),
    hasMoreAfter: Type.Boolean({ description: 'There are further, newer rows in the range' }),
  },
  { description: 'Success' },
);

const EXPORT_FORMATS = ['ndjson', 'csv'] as const;

export const ExportBody = NamedObject('SearchExportRequest', {
  ...matching,
  ...between,
  select: Select,
  format: Type.Enum([...EXPORT_FORMATS]),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_EXPORTED_ROWS, description: `Default: ${MAX_EXPORTED_ROWS}` }),
  ),
});

export const TailBody = NamedObject('SearchTailRequest', { ...matching, select: Select });

export type SearchBody = Static<typeof SearchBody>;
export type HistogramBody = Static<typeof HistogramBody>;
export type ContextBody = Static<typeof ContextBody>;
export type ExportBody = Static<typeof ExportBody>;
export type TailBody = Static<typeof TailBody>;
/** The members that select rows. */
export type Matching = Pick<SearchBody, 'sourceId' | 'where' | 'whereLanguage' | 'filters'>;
