import { Anchor, Badge, Chip, Group, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useApi, useSession } from '../../app/context.tsx';
import { plural } from '../../parts/format/format.ts';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { SearchIcon } from '../../parts/layout/icons.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import { NewDashboard } from './new-dashboard.tsx';
import { type Dashboard, dashboardsQuery } from './queries.ts';
import type { DashboardsSearch } from './search.ts';

const route = getRouteApi('/signed-in/dashboards');

const COLUMNS: Column<Dashboard>[] = [
  {
    header: 'Name',
    sortBy: ({ name }) => name,
    cell: ({ id, name }) => (
      <Anchor
        fw={600}
        size="sm"
        style={{ overflowWrap: 'anywhere' }}
        renderRoot={(props) => <Link to="/dashboards/$id" params={{ id }} {...props} />}
      >
        {name}
      </Anchor>
    ),
  },
  {
    header: 'Tags',
    cell: ({ tags }) => (
      <Group gap={6}>
        {tags.map((tag) => (
          <Badge key={tag} variant="default" tt="none" fw={500}>
            {tag}
          </Badge>
        ))}
      </Group>
    ),
    from: 'sm',
  },
  {
    header: 'Tiles',
    align: 'right',
    width: 90,
    sortBy: ({ tiles }) => tiles.length,
    cell: ({ tiles }) => tiles.length,
  },
];

export function DashboardsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const api = useApi();
  const { organizationId, canChangeDashboards } = useSession();
  const { data, error, refetch } = useQuery(dashboardsQuery(api, organizationId));
  const found = data
    ?.filter((dashboard) => matches(dashboard, search))
    .toSorted((a, b) => a.name.localeCompare(b.name));
  const tags = [...new Set(data?.flatMap((dashboard) => dashboard.tags))].toSorted();
  const change = (part: DashboardsSearch) => void navigate({ search: part, replace: true });

  return (
    <Page
      title="Dashboards"
      subtitle={data && plural(data.length, 'dashboard')}
      actions={canChangeDashboards && <NewDashboard />}
    >
      {error && !data ? (
        <ErrorNotice error={error} title="Could not load dashboards" retry={() => refetch()} />
      ) : data?.length === 0 ? (
        <Panel>
          <EmptyState title="No dashboards yet">
            {canChangeDashboards
              ? "Create one, import a file, or add files to the server's dashboards folder."
              : 'Creating dashboards requires write access.'}
          </EmptyState>
        </Panel>
      ) : (
        <Panel flush>
          <Group p="md" gap="sm">
            <TextInput
              aria-label="Search dashboards"
              placeholder="Name, tag or tile"
              leftSection={<SearchIcon size={16} />}
              value={search.text ?? ''}
              onChange={(event) => change({ ...search, text: event.currentTarget.value })}
              style={{ flex: '1 1 220px', maxWidth: 380 }}
            />
            <Group gap={6} role="group" aria-label="Tags">
              {tags.map((tag) => (
                <Chip
                  key={tag}
                  size="xs"
                  checked={search.tag === tag}
                  onChange={(isChosen) => {
                    const { tag: _tag, ...rest } = search;
                    change(isChosen ? { ...rest, tag } : rest);
                  }}
                >
                  {tag}
                </Chip>
              ))}
            </Group>
          </Group>
          {found?.length === 0 ? (
            <EmptyState title="No matching dashboards">Try another search or clear the tag.</EmptyState>
          ) : (
            <DataTable label="Dashboards" columns={COLUMNS} rows={found} rowKey={({ id }) => id} />
          )}
        </Panel>
      )}
    </Page>
  );
}

function matches({ name, tags, tiles }: Dashboard, { text = '', tag }: DashboardsSearch): boolean {
  if (tag !== undefined && !tags.includes(tag)) return false;
  const haystack = [name, ...tags, ...tiles.map((tile) => tile.name)].join('\n').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => haystack.includes(word));
}
