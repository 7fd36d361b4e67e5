import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { PatternText } from '../../kernel/schemas/pattern-text.ts';
import { StorableText } from '../../kernel/schemas/storable-text.ts';
import { isoTime } from '../../kernel/time/clock.ts';
import { ServicePath } from '../../management/services/schema.ts';
import type { HistoryEntry } from './history-store.ts';
import { MAX_HISTORY } from './statement-log.ts';
import { DEFAULT_MAX_ROWS } from './statements.ts';

/** The formats of downloads: that of ClickHouse, the ending of the file, and settings. */
export const DOWNLOADS = {
  csv: { format: 'CSVWithNames', ending: 'csv', settings: {} },
  tsv: { format: 'TSVWithNames', ending: 'tsv', settings: {} },
  parquet: { format: 'Parquet', ending: 'parquet', settings: {} },
  json: { format: 'JSONEachRow', ending: 'json', settings: { output_format_json_array_of_rows: '1' } },
} as const;

const FORMATS = ['progress', ...(Object.keys(DOWNLOADS) as (keyof typeof DOWNLOADS)[])] as const;

export const MAX_SQL_CHARACTERS = 256 * 1024;
const MAX_VALUE_CHARACTERS = 16 * 1024;
const MAX_PARAMETERS = 100;

const ParameterName = PatternText(
  /^[A-Za-z_][A-Za-z0-9_]{0,127}$/,
  'The name must be a letter or underscore, followed by up to 127 letters, digits and underscores',
  'The name of a parameter',
);

export const ParameterValues = Type.Record(ParameterName, StorableText({ maxLength: MAX_VALUE_CHARACTERS }), {
  additionalProperties: false,
  maxProperties: MAX_PARAMETERS,
  description: 'The values of the parameters of the statement, such as {name:String}',
});

export const DatabaseName = StorableText({
  minLength: 1,
  maxLength: 255,
  description: 'The database of names without one',
});

export const SqlBody = NamedObject('SqlStatement', {
  sql: StorableText({ minLength: 1, maxLength: MAX_SQL_CHARACTERS, description: 'One statement' }),
  database: Type.Optional(DatabaseName),
  parameters: Type.Optional(ParameterValues),
  queryId: Type.Optional(Type.String({ format: 'uuid', description: 'To cancel the statement; default: random' })),
  format: Type.Optional(
    Type.Enum([...FORMATS], {
      description: 'progress (default): lines of JSON with rows and progress. Others: a file to download',
    }),
  ),
  maxRows: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: `How many rows progress returns; default: ${DEFAULT_MAX_ROWS}`,
    }),
  ),
});

export const QueryPath = Type.Object({ ...ServicePath.properties, queryId: Type.String({ format: 'uuid' }) });

export const HistoryQuery = Type.Object(
  { limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_HISTORY, description: `Default: ${MAX_HISTORY}` })) },
  { additionalProperties: false },
);

export const HistoryRecord = NamedObject('SqlHistoryEntry', {
  id: Type.String(),
  sql: Type.String({ description: 'Cut at 16 KiB' }),
  database: Type.String(),
  access: Type.Enum(['read', 'write']),
  startedAt: Type.String({ format: 'date-time' }),
  durationMs: Type.Integer(),
  rowsRead: Type.Union([Type.Integer(), Type.Null()], { description: 'null for a download' }),
  bytesRead: Type.Union([Type.Integer(), Type.Null()]),
  error: Type.Union([Type.String(), Type.Null()]),
});

export const toHistoryRecord = ({ startedAt, ...entry }: HistoryEntry): Static<typeof HistoryRecord> => ({
  ...entry,
  startedAt: isoTime(startedAt),
});
