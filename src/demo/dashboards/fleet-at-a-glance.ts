import type { DashboardSpec } from '../../fleet/schema.ts';
import { at, logs, note, tile, traces } from './tile.ts';

const OWN = 'ServiceName:"pilothouse"';

/** The smallest one, which the ready line of the welcome reads. */
export const fleetAtAGlance = (id: string): DashboardSpec => ({
  id,
  name: 'Fleet at a glance',
  tags: ['demo'],
  tiles: [
    tile('time', 'requests', 'Requests', at(0, 0, 12, 6), [
      logs({ aggFn: 'count', where: OWN, groupBy: ["LogAttributes['operation']"] }),
    ]),
    tile('number', 'slow', 'Slowest tenth', at(12, 0, 12, 6), [
      traces({ aggFn: 'quantile', level: 0.9, field: 'Duration', where: OWN }),
    ]),
    note('notes', 'Notes', at(0, 6, 24, 3), 'This dashboard came from the **demo** fleet.'),
  ],
});
