import { Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useSession } from '../../../app/context.tsx';
import { isAlerted } from '../../../parts/alerts/alerted-tile.ts';
import { AlertsIcon } from '../../../parts/layout/icons.tsx';
import type { Tile } from '../queries.ts';

/** Opens the form for an alert that watches the tile. Renders nothing for tiles that an alert cannot watch. */
export function CreateAlertItem({ dashboardId, tile }: { dashboardId: string; tile: Tile }) {
  const { canChangeDashboards } = useSession();
  if (!canChangeDashboards || !isAlerted(tile)) return null;
  return (
    <Menu.Item
      leftSection={<AlertsIcon size={14} />}
      renderRoot={(props) => <Link to="/alerts/new" search={{ dashboardId, tileId: tile.id }} {...props} />}
    >
      Create alert
    </Menu.Item>
  );
}
