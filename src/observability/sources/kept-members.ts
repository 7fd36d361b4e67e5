import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { StorableText } from '../../kernel/schemas/storable-text.ts';

const MAX_LISTED = 100;

/** The id of the only connection: the engine of this server. */
export const CONNECTION_ID = 'engine';

const text = (maxLength: number) => StorableText({ maxLength });
const Name = Type.Optional(text(1024));
const Expression = Type.Optional(text(10_000));
const Id = Type.Optional(text(64));

const Highlighted = Type.Optional(
  Type.Array(Type.Object({ sqlExpression: text(10_000), luceneExpression: Expression, alias: Name }), {
    maxItems: MAX_LISTED,
  }),
);

const MaterializedView = NamedObject('ClickStackMaterializedView', {
  databaseName: text(128),
  tableName: text(128),
  dimensionColumns: text(10_000),
  minGranularity: text(128),
  minDate: Type.Optional(text(64)),
  timestampColumn: text(128),
  aggregatedColumns: Type.Array(Type.Object({ sourceColumn: Name, aggFn: text(128), mvColumn: text(1024) }), {
    maxItems: MAX_LISTED,
  }),
});

const FilterSettings = NamedObject('ClickStackSourceFilterSettings', {
  databaseName: text(128),
  tableName: text(128),
  columns: Type.Array(
    Type.Object({
      name: text(1024),
      label: text(1024),
      valueExpression: Expression,
      allowAll: Type.Optional(Type.Boolean()),
    }),
    { maxItems: MAX_LISTED },
  ),
});

/** Members that other clients of sources use. They are stored and returned; of the queries, only those of traces read some. */
export const KeptSourceMembers = Type.Object({
  section: Name,
  disabled: Type.Optional(Type.Boolean()),
  connection: Type.Optional(
    Type.Refine(
      Type.String({ description: 'Every source reads the engine', documented: { enum: [CONNECTION_ID] } }),
      (id) => typeof id !== 'string' || id === CONNECTION_ID,
      () => `The connection does not exist; the only one is ${CONNECTION_ID}, the engine of this server`,
    ),
  ),
  querySettings: Type.Optional(
    Type.Array(Type.Object({ setting: text(128), value: text(1024) }), { maxItems: MAX_LISTED }),
  ),
  filterSettings: Type.Optional(FilterSettings),
  defaultTableSelectExpression: Expression,
  serviceNameExpression: Expression,
  serviceVersionExpression: Expression,
  severityTextExpression: Expression,
  eventAttributesExpression: Expression,
  resourceAttributesExpression: Expression,
  displayedTimestampValueExpression: Expression,
  orderByExpression: Expression,
  logSourceId: Id,
  traceSourceId: Id,
  metricSourceId: Id,
  sessionSourceId: Id,
  traceIdExpression: Expression,
  spanIdExpression: Expression,
  parentSpanIdExpression: Expression,
  spanNameExpression: Expression,
  spanKindExpression: Expression,
  statusCodeExpression: Expression,
  statusMessageExpression: Expression,
  sampleRateExpression: Expression,
  spanEventsValueExpression: Expression,
  spanLinksValueExpression: Expression,
  knownColumnsListExpression: Expression,
  useTextIndexForImplicitColumn: Type.Optional(Type.Enum(['auto', 'enabled', 'disabled'])),
  highlightedTraceAttributeExpressions: Highlighted,
  highlightedRowAttributeExpressions: Highlighted,
  materializedViews: Type.Optional(Type.Array(MaterializedView, { maxItems: MAX_LISTED })),
  metadataMaterializedViews: Type.Optional(
    Type.Object({ keyRollupTable: Name, kvRollupTable: Name, granularity: Name }),
  ),
});

export type KeptSourceMembers = Static<typeof KeptSourceMembers>;
