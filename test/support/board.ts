import { acme } from './fleet.ts';

const MINUTE = 60_000;

/** Yesterday 10:00 UTC; the time range of the tests is the half hour after it. */
export const T0 = Math.floor(Date.now() / 86_400_000 - 1) * 86_400_000 + 10 * 60 * MINUTE;
export const RANGE = `from=${T0}&to=${T0 + 30 * MINUTE}&utc=true`;
export const QUERY = `start=${T0}&end=${T0 + 30 * MINUTE}&timezone=UTC`;

const log = (minutes: number, service: string, ms: number, severity: string, body: string) => ({
  OrganizationId: acme.id,
  Timestamp: new Date(T0 + minutes * MINUTE).toISOString(),
  ServiceName: service,
  SeverityText: severity,
  Body: body,
  LogAttributes: { ms: String(ms) },
});

/** One row per minute for each of two services; every sixth row of api is an error. */
export const rows = {
  otel_logs: Array.from({ length: 30 }, (_, minute) => minute).flatMap((minute) => [
    log(minute, 'api', 10 + minute, minute % 6 === 0 ? 'ERROR' : 'INFO', `request ${minute} of api`),
    log(minute, 'web', 100 + minute, 'INFO', `request ${minute} of web`),
  ]),
  otel_metrics_gauge: [
    { OrganizationId: acme.id, MetricName: 'memory', TimeUnix: new Date(T0).toISOString(), Value: 3 * 1024 ** 3 },
  ],
};

export const position = (x: number, y: number, w: number, h: number) => ({ x, y, w, h });
const logs = (series: object) => ({ sourceId: 'logs', ...series });

/** Every tile type, one tile without data and one with an invalid query. */
export const board = {
  id: 'board',
  name: 'Board',
  tags: ['wall', 'night'],
  tiles: [
    {
      id: 'lines',
      name: 'Rows by service',
      ...position(0, 0, 12, 6),
      series: [logs({ type: 'time', aggFn: 'count', groupBy: ['ServiceName'] })],
    },
    {
      id: 'bars',
      name: 'Rows by severity',
      ...position(12, 0, 12, 6),
      series: [logs({ type: 'time', aggFn: 'count', groupBy: ['SeverityText'], displayType: 'stacked_bar' })],
    },
    {
      id: 'sum',
      name: 'All milliseconds',
      ...position(0, 6, 6, 4),
      series: [logs({ type: 'number', aggFn: 'sum', field: "LogAttributes['ms']" })],
    },
    {
      id: 'ratio',
      name: 'Share of errors',
      ...position(6, 6, 6, 4),
      asRatio: true,
      series: [
        logs({
          type: 'number',
          aggFn: 'count',
          where: 'SeverityText:"ERROR"',
          numberFormat: { output: 'percent', mantissa: 2 },
        }),
        logs({ type: 'number', aggFn: 'count' }),
      ],
    },
    {
      id: 'memory',
      name: 'Memory',
      ...position(12, 6, 6, 4),
      series: [
        {
          type: 'number',
          aggFn: 'max',
          sourceId: 'metrics',
          metricName: 'memory',
          metricDataType: 'gauge',
          numberFormat: { output: 'byte' },
        },
      ],
    },
    {
      id: 'nothing',
      name: 'Nothing',
      ...position(18, 6, 6, 4),
      series: [logs({ type: 'time', aggFn: 'avg', field: "LogAttributes['ms']", where: 'ServiceName:"none"' })],
    },
    {
      id: 'table',
      name: 'Slowest',
      ...position(0, 10, 12, 6),
      series: [
        logs({ type: 'table', aggFn: 'max', field: "LogAttributes['ms']", alias: 'slowest', groupBy: ['ServiceName'] }),
        logs({ type: 'table', aggFn: 'count', alias: 'rows', groupBy: ['ServiceName'] }),
      ],
    },
    {
      id: 'search',
      name: 'Errors',
      ...position(12, 10, 12, 6),
      series: [logs({ type: 'search', fields: ['ServiceName', 'Body'], where: 'SeverityText:"ERROR"' })],
    },
    {
      id: 'text',
      name: 'Notes',
      ...position(0, 16, 12, 4),
      series: [{ type: 'markdown', content: '# On call\n\nAsk **Ada** or see [the book](https://example.com/book).' }],
    },
    {
      id: 'broken',
      name: 'Broken',
      ...position(12, 16, 12, 4),
      series: [logs({ type: 'number', aggFn: 'sum', field: 'NoSuchColumn' })],
    },
  ],
};
