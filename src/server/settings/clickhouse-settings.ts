import type { Setting } from './setting.ts';
import { parseBytes, parseClusterName, urlWithScheme } from './setting-parsers.ts';

/** Which ClickHouse holds telemetry and usage. */
export const CLICKHOUSE_SETTINGS = {
  clickhouseUrl: {
    flag: '--clickhouse-url',
    argument: '<url>',
    variable: 'PILOTHOUSE_CLICKHOUSE_URL',
    help: 'Use a ClickHouse server instead of the embedded engine',
    isSecret: true,
    parse: urlWithScheme(/^https?:\/\//),
    rule: 'must look like http://user:password@host:8123/database',
  },
  clickhouseCluster: {
    flag: '--clickhouse-cluster',
    argument: '<name>',
    variable: 'PILOTHOUSE_CLICKHOUSE_CLUSTER',
    help: 'Keep the tables on all shards of this cluster of the ClickHouse server',
    parse: parseClusterName,
    rule: 'must be the name of a cluster: up to 64 letters, digits, _, - and ., starting with a letter or _',
  },
  engineMemoryBytes: {
    flag: '--engine-memory',
    argument: '<size>',
    variable: 'PILOTHOUSE_ENGINE_MEMORY',
    help: 'Memory limit of the embedded engine, such as 2GiB',
    fallbackHelp: 'a quarter of system memory, between 1 and 8 GiB',
    parse: parseBytes,
    rule: 'must look like 2GiB or 1536MiB, and be at least 768MiB',
  },
} satisfies Record<string, Setting>;
