import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { formatError } from '../../api/errors.ts';
import { sourcesQuery } from '../../api/queries.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { usePointTarget } from '../dashboards/drill-down/use-point-target.ts';
import { previewQuery } from '../dashboards/editor/preview-query.ts';
import type { Tile, TimeWindow } from '../dashboards/queries.ts';
import { HeatmapTile } from '../dashboards/tiles/heatmap-tile.tsx';
import { DEFAULT_SOURCE } from './queries.ts';
import type { TracesSearch } from './search.ts';
import classes from './traces.module.css';

interface Props {
  search: TracesSearch;
  window: TimeWindow;
  onSelect: (part: Pick<TracesSearch, 'min' | 'max' | 'partStart' | 'partEnd'>) => void;
}

/** How many spans took how long, over time. A selected area limits the list of traces. */
export function LatencyHeatmap({ search, window, onSelect }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const { source: sourceId = DEFAULT_SOURCE, where = '', lang = 'lucene' } = search;
  const { data: sources } = useQuery(sourcesQuery(api, organizationId));
  const source = sources?.find(({ id }) => id === sourceId);
  const field = source?.durationExpression || 'Duration';
  /** Of the stored value. */
  const nsPerUnit = 10 ** (9 - (source?.durationPrecision ?? 9));
  const tile = {
    id: 'latency',
    name: 'Duration of spans',
    ...{ x: 0, y: 0, w: 24, h: 6 },
    asRatio: false,
    series: [{ type: 'heatmap', sourceId, field, where, whereLanguage: lang, groupBy: [] }],
  } as Tile;
  const target = usePointTarget(tile);
  const { data, error } = useQuery({
    ...previewQuery(api, organizationId, tile, window, target.points),
    enabled: target.isKnown && sources !== undefined,
  });
  return (
    <Panel title="Duration of spans">
      <div className={classes.heatmap} ref={target.ref}>
        {error ? (
          <p role="alert">{formatError(error)}</p>
        ) : data?.type === 'heatmap' ? (
          <HeatmapTile
            tile={tile}
            data={data}
            zone={window.zone}
            onSelect={({ start, end, from, to, isLast }) =>
              onSelect({
                partStart: start,
                partEnd: end,
                min: Math.max(0, Math.ceil(from * nsPerUnit)),
                // The upper bound is exclusive, except that of the last row.
                max: Math.max(0, isLast ? Math.ceil(to * nsPerUnit) : Math.ceil(to * nsPerUnit) - 1),
              })
            }
          />
        ) : (
          <Skeleton height="100%" animate={false} />
        )}
      </div>
      <p className={classes.hint}>
        Drag over an area to see its traces below, or set a minimum and maximum duration above.
      </p>
    </Panel>
  );
}
