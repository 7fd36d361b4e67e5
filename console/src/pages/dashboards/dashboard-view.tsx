import { ActionIcon, Modal } from '@mantine/core';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { AnnotationsProvider } from './annotations/annotations.tsx';
import { DrillDownProvider } from './drill-down/drill-down-context.tsx';
import { TileRowsMenu } from './drill-down/tile-rows-menu.tsx';
import type { ViewFilter } from './filters/view-filters.ts';
import { StoredTile } from './grid/stored-tile.tsx';
import { TileGrid } from './grid/tile-grid.tsx';
import { TileMenu } from './grid/tile-menu.tsx';
import { ExpandIcon } from './icons.tsx';
import type { Dashboard, TimeWindow } from './queries.ts';
import { CrosshairContext } from './tiles/time/crosshair.ts';

interface Props {
  dashboard: Dashboard;
  window: TimeWindow;
  /** The tile shown full screen. */
  openTile: string | undefined;
  onOpenTile: (id: string | undefined) => void;
  onZoom: (start: number, end: number) => void;
  /** Conditions of the viewer for all tiles. */
  filters: readonly ViewFilter[];
  isComparing: boolean;
  onFilterError: (reason: string) => void;
}

export function DashboardView({ dashboard, window, openTile, onOpenTile, ...view }: Props) {
  const opened = dashboard.tiles.find(({ id }) => id === openTile);
  if (dashboard.tiles.length === 0)
    return <EmptyState title="No tiles yet">Edit the dashboard to add tiles.</EmptyState>;
  return (
    <DrillDownProvider>
      <AnnotationsProvider dashboardId={dashboard.id} window={window}>
        <CrosshairContext value={dashboard.id}>
          <TileGrid tiles={dashboard.tiles}>
            {(tile) => (
              <StoredTile
                dashboardId={dashboard.id}
                tile={tile}
                window={window}
                {...view}
                actions={(data, previous) =>
                  tile.series[0]?.type !== 'markdown' && (
                    <>
                      <TileRowsMenu tile={tile} window={window} />
                      <ActionIcon
                        variant="subtle"
                        color="gray"
                        size="sm"
                        aria-label={`View ${tile.name || 'tile'} full screen`}
                        onClick={() => onOpenTile(tile.id)}
                      >
                        <ExpandIcon size={14} />
                      </ActionIcon>
                      <TileMenu dashboardId={dashboard.id} tile={tile} data={data} previous={previous} />
                    </>
                  )
                }
              />
            )}
          </TileGrid>
          <Modal
            opened={opened !== undefined}
            onClose={() => onOpenTile(undefined)}
            title={opened?.name || 'Untitled tile'}
            fullScreen
            transitionProps={{ duration: 0 }}
            styles={{ content: { display: 'flex', flexDirection: 'column' }, body: { flex: 1, minHeight: 0 } }}
          >
            {opened && (
              <StoredTile dashboardId={dashboard.id} tile={{ ...opened, name: '' }} window={window} {...view} />
            )}
          </Modal>
        </CrosshairContext>
      </AnnotationsProvider>
    </DrillDownProvider>
  );
}
