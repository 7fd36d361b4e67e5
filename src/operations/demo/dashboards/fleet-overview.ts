import { at, note, ownLogs, ownTraces, tile } from '../../../observability/dashboards/templates/tile.ts';
import type { DashboardSpec } from '../../fleet/schema.ts';

/** The dashboard that the welcome message of the demo uses as an example. */
export const fleetOverview = (id: string): DashboardSpec => ({
  id,
  name: 'Fleet overview',
  tags: ['demo'],
  tiles: [
    tile('time', 'requests', 'API requests by operation', at(0, 0, 12, 6), [
      ownLogs({ aggFn: 'count', groupBy: ["LogAttributes['operation']"] }),
    ]),
    tile('number', 'latency', 'p90 latency', at(12, 0, 12, 6), [
      ownTraces({ aggFn: 'quantile', level: 0.9, field: 'Duration' }),
    ]),
    note('notes', 'Notes', at(0, 6, 24, 3), 'This dashboard is part of the demo organization. Edit it as you like.'),
  ],
});
