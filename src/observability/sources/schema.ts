import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { StorableText } from '../../kernel/schemas/storable-text.ts';
import { KeptSourceMembers } from './kept-members.ts';
import { ResourceId } from './resource-id.ts';
import { DURATION_PRECISIONS, METRIC_DATA_TYPES, type MetricDataType, SOURCE_KINDS } from './source.ts';

const NAME_CHARACTERS = 128;
/** ClickHouse's own databases. */
const CLOSED_DATABASES = new Set(['system', 'information_schema']);

const name = (pattern: RegExp, rule: string, description: string) =>
  Type.Refine(
    Type.String({ maxLength: NAME_CHARACTERS, description, documented: { pattern: pattern.source } }),
    (text) => typeof text !== 'string' || pattern.test(text),
    () => rule,
  );

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const IDENTIFIER_RULE = 'The value must consist of letters, digits and _, and must not start with a digit';

const Table = (description: string) => name(IDENTIFIER, IDENTIFIER_RULE, description);
const Column = (description: string) =>
  name(
    /^[A-Za-z_][A-Za-z0-9_.]*$/,
    'The value must be a column name: letters, digits, _ and ., not starting with a digit',
    description,
  );

const Database = Type.Refine(
  name(IDENTIFIER, IDENTIFIER_RULE, "Default: Pilothouse's own database"),
  (text) => typeof text !== 'string' || !CLOSED_DATABASES.has(text.toLowerCase()),
  () => 'Sources cannot use this database',
);

const DurationPrecision = Type.Optional(
  Type.Enum([...DURATION_PRECISIONS], {
    description: 'The unit of durationExpression: 9 nanoseconds (default), 6 microseconds, 3 milliseconds, 0 seconds',
  }),
);

type MetricTables = { [type in MetricDataType]: ReturnType<typeof Type.Optional<ReturnType<typeof Table>>> };

/** Omitted members default to those of the OpenTelemetry tables. */
export const SourceBody = NamedObject('SourceInput', {
  name: StorableText({ minLength: 1, maxLength: 1024 }),
  kind: Type.Enum([...SOURCE_KINDS]),
  from: Type.Optional(
    Type.Object({
      databaseName: Type.Optional(Database),
      tableName: Type.Optional(
        name(/^([A-Za-z_][A-Za-z0-9_]*)?$/, IDENTIFIER_RULE, 'Empty for a metric source, which uses metricTables'),
      ),
    }),
  ),
  timestampValueExpression: Type.Optional(Column('The time column')),
  implicitColumnExpression: Type.Optional(Column('The column that bare words search')),
  bodyExpression: Type.Optional(Column('The column with the text of an event')),
  durationExpression: Type.Optional(Column('The column with the duration of a span')),
  durationPrecision: DurationPrecision,
  metricTables: Type.Optional(
    Type.Object(
      Object.fromEntries(
        METRIC_DATA_TYPES.map((type) => [type, Type.Optional(Table(`The table of ${type} metrics`))]),
      ) as MetricTables,
      { description: 'For a metric source: the table of each type of metric' },
    ),
  ),
  ...KeptSourceMembers.properties,
});

export const SourceSpec = Type.Object({ id: Type.Optional(ResourceId), ...SourceBody.properties });

export const SourceRecord = NamedObject('Source', {
  id: Type.String(),
  name: Type.String(),
  kind: Type.Enum([...SOURCE_KINDS]),
  from: Type.Object({ databaseName: Type.String(), tableName: Type.String() }),
  timestampValueExpression: Type.String(),
  implicitColumnExpression: Type.Optional(Type.String()),
  bodyExpression: Type.Optional(Type.String()),
  durationExpression: Type.Optional(Type.String()),
  durationPrecision: DurationPrecision,
  metricTables: Type.Optional(
    Type.Object(
      Object.fromEntries(METRIC_DATA_TYPES.map((type) => [type, Type.Optional(Type.String())])) as {
        [type in MetricDataType]: ReturnType<typeof Type.Optional<ReturnType<typeof Type.String>>>;
      },
    ),
  ),
  ...KeptSourceMembers.properties,
  connection: Type.String(),
});

export type SourceBody = Static<typeof SourceBody>;

export type SourceSpec = Static<typeof SourceSpec>;
