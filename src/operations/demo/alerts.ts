import type { AlertSpec, ChannelSpec, SavedSearchSpec } from '../fleet/alerting-schema.ts';

/** Stable: what the user changes or deletes is recognized after a restart. */
const IDS = {
  channel: '64f0c1d2e3a4b5c6d7e8fa01',
  savedSearch: '64f0c1d2e3a4b5c6d7e8fb01',
  errors: '64f0c1d2e3a4b5c6d7e8fc01',
  slowSearch: '64f0c1d2e3a4b5c6d7e8fc02',
};

/** An alert needs a channel. This one is for a receiver that the user starts on this machine. */
export const demoChannels: ChannelSpec[] = [
  {
    id: IDS.channel,
    name: 'Receiver on this machine',
    service: 'generic',
    description: 'For a receiver that you start on port 9099 of this machine.',
    url: 'http://127.0.0.1:9099/alerts',
  },
];

export const demoSavedSearches: SavedSearchSpec[] = [
  {
    id: IDS.savedSearch,
    name: 'Errors of checkout and payments',
    sourceId: 'logs',
    where: 'SeverityText:"ERROR" (ServiceName:"checkout" OR ServiceName:"payments")',
  },
];

const SILENT =
  'Nothing is sent: the quiet hours are all day, because nothing listens at the address of the channel. Without them, messages are sent.';

/** What both have. */
const common = {
  interval: '5m',
  thresholdType: 'above',
  // The telemetry of the demo arrives every 10 seconds, and is loaded after the start.
  evaluationDelaySeconds: 30,
  noDataBehavior: 'ok',
  quietHours: { timezone: 'UTC', ranges: [{ start: '00:00', end: '00:00' }] },
  channels: [IDS.channel],
  owner: 'Shop team',
} satisfies Partial<AlertSpec>;

export const demoAlerts: [errors: AlertSpec, slowSearch: AlertSpec] = [
  {
    ...common,
    id: IDS.errors,
    name: 'Errors of checkout and payments',
    message: '{{value}} errors of {{attributes.ServiceName}} in 5 minutes.',
    note: `Fires in nearly every incident; they begin at :05 past each hour. Resolved at about :25. ${SILENT}`,
    savedSearch: IDS.savedSearch,
    groupBy: 'ServiceName',
    threshold: 2,
    severity: 'error',
    labels: { team: 'shop', environment: 'production' },
    runbookUrl: 'https://example.com/runbooks/errors',
  },
  {
    ...common,
    id: IDS.slowSearch,
    name: 'Search is slow',
    message: 'The p95 latency of search is {{value}} s.',
    note: `Normally ok: the incidents of the demo do not affect search. ${SILENT}`,
    metric: {
      sourceId: 'metrics',
      metricName: 'http.server.request.duration',
      metricDataType: 'histogram',
      aggFn: 'quantile',
      level: 0.95,
      where: 'ServiceName:"search"',
    },
    threshold: 0.25,
    severity: 'warning',
    labels: { team: 'search', environment: 'production' },
    runbookUrl: 'https://example.com/runbooks/slow-search',
  },
];
