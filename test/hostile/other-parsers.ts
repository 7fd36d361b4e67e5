/** Functions with the names of parsers by the reason why they are not in the table: `folder/file.ts#name name`. */
const REASONS: Readonly<Record<string, readonly string[]>> = {
  'a setting of the operator, read at the start': [
    'server/settings/setting-parsers.ts#parsePublicUrl parseSize parseBytes parseClusterName parseDurationMs parseDays',
    'server/settings/setting-parsers.ts#parseRate parsePortRange parseOptionalPortRange parseList parseNetworks',
    'server/settings/setting-parsers.ts#parseHeaders parseTables',
    'platform/http/requests/base-path.ts#parseBasePath',
    'platform/tls/certificate-host.ts#parseHost',
  ],
  'parseDocuments and the check of a schema': [
    'kernel/schemas/yaml-text.ts#parseYamlOrJson',
    'observability/dashboards/files/dashboard-file.ts#parseDashboardFile parseDashboardFiles',
    'operations/fleet/alerting/alert-file.ts#parseAlertFile',
    'operations/fleet/file.ts#parseFleetFile',
    'management/billing/prices/price-file.ts#parsePriceFile',
  ],
  'a part of parsers of the table': [
    'platform/notifications/template-parser.ts#parseTemplate',
    'observability/expressions/sql/sql-primary.ts#parsePrimary parseList',
    'observability/charts/queries/draft.ts#parseWhere',
    'observability/charts/time-range.ts#parseRange',
    'observability/search/search-query.ts#parseRange',
    'observability/search/select-list.ts#parseSelect parseOrder',
  ],
  'the text has at most 64 characters, or matched a pattern of digits': [
    'kernel/numbers/decimal.ts#parseDecimal',
    'management/billing/prices/cost-micros.ts#parsePrice',
    'management/billing/window.ts#parseWindow',
  ],
  'text that this program wrote': [
    'management/billing/store.ts#parsePackedCost',
    'observability/dashboards/dashboard.ts#parseDashboard',
    'observability/alerts/alert-store.ts#parseGroups',
    'operations/backup/format.ts#parseLine',
    'running/autoscaling/sample-format.ts#parseSamples',
    'running/backups/storage/manifest.ts#parseManifest',
    'running/drivers/kubernetes/task-id.ts#parseTaskId',
  ],
  'what ClickHouse, Kubernetes or a driver answers': [
    'observability/expressions/value-type.ts#parseType',
    'platform/engine/result.ts#parseRows',
    'running/backups/storage/file-list.ts#parseFileList',
    'running/drivers/kubernetes/api-errors.ts#parseJsonObject',
    'running/drivers/kubernetes/quantity.ts#parseBytes',
    'running/drivers/webhook/status.ts#parseStatus',
    'running/queries/result-stream.ts#splitLines',
  ],
  'not of text': [
    'management/billing/metering/new-events.ts#splitInserts',
    'management/keys/assigned-roles.ts#parseRoleChoice',
    'observability/charts/queries/time-buckets.ts#splitRange',
    'observability/expressions/choice.ts#parseChoice',
    'operations/fleet/resource.ts#parseDeclarations',
    'platform/engine/backends/memory.ts#splitMemory',
  ],
};

export const OTHER_PARSERS: readonly string[] = Object.values(REASONS)
  .flat()
  .flatMap((line) => {
    const [path, names = ''] = line.split('#');
    return names.split(' ').map((name) => `${path}#${name}`);
  });
