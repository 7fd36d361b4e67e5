import { Skeleton } from '@mantine/core';
import { lazy, Suspense, useMemo } from 'react';
import { PartBoundary } from '../../../parts/layout/part-boundary.tsx';
import type { Previous } from '../compare/previous.ts';
import type { Tile, TileData } from '../queries.ts';
import { BarTile } from '../tiles/bar-tile.tsx';
import { HeatmapTile } from '../tiles/heatmap-tile.tsx';
import { HistogramTile } from '../tiles/histogram-tile.tsx';
import { NumberTile } from '../tiles/number-tile.tsx';
import { PieTile } from '../tiles/pie-tile.tsx';
import { SearchTile } from '../tiles/rows/search-tile.tsx';
import { TableTile } from '../tiles/table-tile.tsx';
import { CrosshairLine } from '../tiles/time/crosshair-line.tsx';
import { TimeTile } from '../tiles/time/time-tile.tsx';

const MarkdownTile = lazy(() => import('../tiles/markdown-tile.tsx'));

interface Props {
  tile: Tile;
  data: TileData;
  zone: string;
  onZoom?: ((start: number, end: number) => void) | undefined;
  /** The previous period, if the viewer compares with it. */
  previous?: Previous | undefined;
}

/** A tile that cannot be drawn does not affect the others. New data, and changes in the editor, are drawn again. */
export function TileContent(props: Props) {
  const { tile, data } = props;
  const content = data.type === 'markdown' ? data.content : data;
  const resetKey = useMemo(() => ({ tile, content }), [tile, content]);
  return (
    <PartBoundary resetKey={resetKey}>
      <Content {...props} />
    </PartBoundary>
  );
}

function Content({ tile, data, zone, onZoom, previous }: Props) {
  switch (data.type) {
    case 'time':
      return <TimeTile tile={tile} data={data} zone={zone} onZoom={onZoom} previous={previous} />;
    case 'markdown':
      return (
        <Suspense fallback={<Skeleton height="100%" />}>
          <MarkdownTile content={data.content} />
        </Suspense>
      );
    case 'number':
      return <NumberTile tile={tile} data={data} previous={previous} />;
    case 'pie':
      return <PieTile tile={tile} data={data} />;
    case 'bar':
      return <BarTile tile={tile} data={data} />;
    case 'heatmap':
      return (
        <HeatmapTile
          tile={tile}
          data={data}
          zone={zone}
          overlay={<CrosshairLine start={data.start} end={data.end} />}
        />
      );
    case 'histogram':
      return <HistogramTile tile={tile} data={data} />;
    case 'table':
      return <TableTile tile={tile} data={data} />;
    case 'search':
      return <SearchTile series={tile.series[0]} data={data} zone={zone} />;
  }
}
