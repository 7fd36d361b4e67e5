import { readNames } from './names.ts';

/** Words that can stand before a parenthesis without being functions. */
export const KEYWORDS = readNames(`
  ALL AND ANTI ANY APPLY ARRAY AS ASC ASOF AST BETWEEN BY CASE COLUMNS CROSS CUBE DESC DESCRIBE DISTINCT DIV ELSE ESTIMATE
  EXCEPT EXISTS FILTER FINAL FROM FULL GLOBAL GROUP HAVING ILIKE IN INNER INTERPOLATE INTERSECT INTERVAL IS JOIN LEFT LIKE
  LIMIT MATERIALIZED MOD NATURAL NOT OFFSET ON OR ORDER OUTER OVER PIPELINE PLAN PREWHERE QUALIFY RECURSIVE REGEXP REPLACE
  RIGHT RLIKE ROLLUP SAMPLE SELECT SEMI SETS SKIP SOME STEP STRICT SYNTAX TABLE THEN TO TOP TREE UNION USING WHEN WHERE
  WITH
`);

/** Functions that exist in the parser only, so `system.functions` lacks them. */
export const PARSER_FUNCTIONS = readNames(`
  dateAdd date_add dateSub date_sub extract grouping timestampAdd timestamp_add timestampSub timestamp_sub untuple
`);

/** The data types, with their aliases of one word. */
export const TYPES = readNames(`
  AggregateFunction Array BFloat16 BIGINT BINARY BIT BLOB BYTE BYTEA Bool CHAR CHARACTER CLOB DEC DOUBLE Date Date32
  DateTime DateTime32 DateTime64 Decimal Decimal128 Decimal256 Decimal32 Decimal64 Dynamic Enum Enum16 Enum8 FIXED FLOAT
  FixedString Float32 Float64 Geometry INET4 INET6 INT INT1 INTEGER IPv4 IPv6 Int128 Int16 Int256 Int32 Int64 Int8
  IntervalDay IntervalHour IntervalMicrosecond IntervalMillisecond IntervalMinute IntervalMonth IntervalNanosecond
  IntervalQuarter IntervalSecond IntervalWeek IntervalYear JSON LONGBLOB LONGTEXT LineString LowCardinality MEDIUMBLOB
  MEDIUMINT MEDIUMTEXT Map MultiLineString MultiPolygon NCHAR NUMERIC NVARCHAR Nested Nothing Nullable Point Polygon QBit
  REAL Ring SET SIGNED SINGLE SMALLINT SimpleAggregateFunction String TEXT TIMESTAMP TINYBLOB TINYINT TINYTEXT Time Time64
  Tuple UInt128 UInt16 UInt256 UInt32 UInt64 UInt8 UNSIGNED UUID VARBINARY VARCHAR VARCHAR2 Variant YEAR boolean
`);
