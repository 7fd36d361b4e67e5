import { ActionIcon, Badge, Button, Group, Skeleton, Tooltip } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useApi, useSession } from '../../app/context.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { DashboardMenu } from './dashboard-menu.tsx';
import { FilteredView } from './filtered-view.tsx';
import { CloseIcon, PencilIcon, ScreenIcon } from './icons.tsx';
import { requestFullScreen, useKiosk } from './kiosk.ts';
import { dashboardQuery } from './queries.ts';
import type { DashboardSearch } from './search.ts';
import { RangeBar } from './time-window/range-bar.tsx';
import { useTimeWindow } from './time-window/use-time-window.ts';

const DashboardEditor = lazy(() => import('./editor/dashboard-editor.tsx'));

const route = getRouteApi('/signed-in/dashboards/$id');

export function DashboardPage() {
  const { id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const api = useApi();
  const { organizationId, canChangeDashboards } = useSession();
  const { data, error, refetch } = useQuery(dashboardQuery(api, organizationId, id));
  const { window, reload } = useTimeWindow(search);
  const isKiosk = search.kiosk === true;
  const updateSearch = (next: DashboardSearch) => void navigate({ search: next, resetScroll: false });
  const leaveKiosk = () => {
    const { kiosk: _kiosk, ...rest } = search;
    updateSearch(rest);
  };
  useKiosk(isKiosk);
  useHotkeys(isKiosk ? [['Escape', leaveKiosk]] : []);

  if (error && !data)
    return (
      <Page title="Dashboard">
        <ErrorNotice error={error} title="Could not load the dashboard" retry={() => refetch()} />
      </Page>
    );
  if (!data)
    return (
      <Page title="Dashboard">
        <Skeleton height={400} />
      </Page>
    );
  const { dashboard, provisionedFrom } = data;
  const canChange = canChangeDashboards && provisionedFrom === undefined;
  const isEditing = search.edit === true && canChange;
  const leaveEditing = () => {
    const { edit: _edit, ...rest } = search;
    updateSearch(rest);
  };
  return (
    <div data-wide="true">
      <Page
        title={dashboard.name}
        badges={
          <Group gap={6}>
            {dashboard.tags.map((tag) => (
              <Badge key={tag} variant="default" tt="none" fw={500}>
                {tag}
              </Badge>
            ))}
          </Group>
        }
        subtitle={
          provisionedFrom && !isKiosk
            ? `Provisioned from ${provisionedFrom}. Edit the file to change this dashboard.`
            : undefined
        }
        actions={
          <>
            <RangeBar search={search} window={window} onChange={updateSearch} onReload={reload} />
            {isKiosk ? (
              <Tooltip label="Exit (Esc)" withArrow>
                <ActionIcon variant="default" size={36} aria-label="Exit kiosk mode" onClick={leaveKiosk}>
                  <CloseIcon />
                </ActionIcon>
              </Tooltip>
            ) : (
              <Tooltip label="Kiosk mode" withArrow>
                <ActionIcon
                  variant="default"
                  size={36}
                  aria-label="Kiosk mode"
                  onClick={() => {
                    requestFullScreen();
                    updateSearch({ ...search, kiosk: true });
                  }}
                >
                  <ScreenIcon />
                </ActionIcon>
              </Tooltip>
            )}
            {!isKiosk && canChange && !isEditing && (
              <Button
                variant="default"
                leftSection={<PencilIcon />}
                onClick={() => updateSearch({ ...search, edit: true })}
              >
                Edit
              </Button>
            )}
            {!isKiosk && !isEditing && <DashboardMenu stored={data} window={window} canChange={canChange} />}
          </>
        }
      >
        {isEditing ? (
          <Suspense fallback={<Skeleton height={400} />}>
            <DashboardEditor key={dashboard.id} stored={data} window={window} onLeave={leaveEditing} />
          </Suspense>
        ) : (
          <FilteredView
            dashboard={dashboard}
            search={search}
            window={window}
            onChange={updateSearch}
            openTile={search.tile}
            onOpenTile={(tile) => {
              const { tile: _tile, ...rest } = search;
              updateSearch(tile === undefined ? rest : { ...rest, tile });
            }}
            onZoom={(from, to) => {
              const { last: _last, ...rest } = search;
              updateSearch({ ...rest, from, to });
            }}
          />
        )}
      </Page>
    </div>
  );
}
