import type { DashboardSpec } from '../../fleet/schema.ts';
import { at, logs, MILLISECONDS, note, tile, traces } from './tile.ts';

const PILOTHOUSE = 'ServiceName:"pilothouse"';

/** The dashboard that the welcome message of the demo uses as an example. */
export const fleetOverview = (id: string): DashboardSpec => ({
  id,
  name: 'Fleet overview',
  tags: ['demo'],
  tiles: [
    tile('time', 'requests', 'API requests by operation', at(0, 0, 12, 6), [
      logs({ aggFn: 'count', where: PILOTHOUSE, groupBy: ["LogAttributes['operation']"] }),
    ]),
    tile('number', 'latency', 'p90 latency (ms)', at(12, 0, 12, 6), [
      traces({ aggFn: 'quantile', level: 0.9, field: MILLISECONDS, where: PILOTHOUSE }),
    ]),
    note('notes', 'Notes', at(0, 6, 24, 3), 'This dashboard is part of the demo organization. Edit it as you like.'),
  ],
});
