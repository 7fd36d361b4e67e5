import { Button, Group, Select, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ListPage, readPage } from '../../api/pages.ts';
import { foundServicesQuery, keysQuery, recentActivityQuery } from '../../api/queries.ts';
import type { Activity } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { useResourceNames } from '../../app/resource-names.ts';
import { plural } from '../../parts/format/format.ts';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { SearchIcon } from '../../parts/layout/icons.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import classes from './activity.module.css';
import { ActivityEntry, EntrySkeletons } from './activity-entry.tsx';
import { listActors, MAX_TEXT_LENGTH, RESOURCE_TYPES, toFilter } from './filters.ts';
import { LiteralsSwitch } from './literals-switch.tsx';
import type { ActivitySearch } from './search.ts';

const route = getRouteApi('/signed-in/activity');
const PAGE_SIZE = 200;

const DEBOUNCE_MS = 300;

/** The server applies all filters to the whole audit log. */
export function ActivityPage() {
  const api = useApi();
  const { organizationId } = useSession();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const keys = useQuery(keysQuery(api, organizationId)).data ?? [];
  const recent = useQuery(recentActivityQuery(api, organizationId, PAGE_SIZE)).data ?? [];
  const [text] = useDebouncedValue(search.text, DEBOUNCE_MS);
  const found = useFoundServices(text);
  const filter = toFilter({ ...search, text }, [...keys, ...(found ?? [])]);
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage, isPlaceholderData } = useInfiniteQuery({
    queryKey: [organizationId, 'activities', 'list', filter],
    queryFn: ({ pageParam, signal }) =>
      readPage(
        (options) =>
          api.activityGetList(
            { organizationId, limit: PAGE_SIZE, ...filter, ...(pageParam === '' ? {} : { cursor: pageParam }) },
            options,
          ),
        signal,
      ),
    enabled: found !== undefined,
    initialPageParam: '',
    getNextPageParam: ({ next }: ListPage<Activity>) => next,
    placeholderData: keepPreviousData,
  });
  const shown = data?.pages.flatMap(({ records }) => records);
  const names = useResourceNames(shown);
  const setFilter = (field: keyof ActivitySearch, value: string | null) =>
    void navigate({ search: (before) => ({ ...before, [field]: value || undefined }), replace: true });
  const isFiltered = Object.values(search).some((value) => value !== undefined);

  return (
    <Page
      title="Activity"
      subtitle="Changes and sign-ins, and who made them. Date filters use UTC."
      actions={<LiteralsSwitch />}
    >
      <search className={classes.filters} aria-label="Filters">
        <TextInput
          aria-label="Search activity"
          placeholder="Name, actor or IP address"
          leftSection={<SearchIcon size={16} />}
          value={search.text ?? ''}
          onChange={(event) => setFilter('text', event.currentTarget.value)}
        />
        <Select
          aria-label="Resource type"
          placeholder="Any resource"
          clearable
          data={RESOURCE_TYPES}
          value={search.kind ?? null}
          onChange={(kind) => setFilter('kind', kind)}
        />
        <Select
          aria-label="Actor"
          placeholder="Any actor"
          clearable
          searchable
          data={listActors(recent, keys, search.actor)}
          value={search.actor ?? null}
          onChange={(actor) => setFilter('actor', actor)}
        />
        <TextInput
          type="date"
          aria-label="Start date"
          leftSection={<span className={classes.between}>From</span>}
          leftSectionWidth={48}
          value={search.from ?? ''}
          onChange={(event) => setFilter('from', event.currentTarget.value)}
        />
        <TextInput
          type="date"
          aria-label="End date"
          leftSection={<span className={classes.between}>To</span>}
          leftSectionWidth={34}
          value={search.to ?? ''}
          onChange={(event) => setFilter('to', event.currentTarget.value)}
        />
      </search>
      {search.resource !== undefined && (
        <Group mb="md">
          <Button
            size="compact-sm"
            variant="light"
            rightSection="✕"
            aria-label="Show the changes of all resources"
            onClick={() => setFilter('resource', null)}
          >
            History of{' '}
            {names.get(search.resource) ?? keys.find(({ id }) => id === search.resource)?.name ?? search.resource}
          </Button>
        </Group>
      )}
      {error && !data ? (
        <ErrorNotice error={error} title="Could not load activity" retry={() => refetch()} />
      ) : (
        <Panel flush>
          {shown?.length === 0 ? (
            <NoActivity
              isFiltered={isFiltered}
              hasMore={hasNextPage}
              onClear={() => void navigate({ search: {}, replace: true })}
            />
          ) : (
            <ol className={classes.list} aria-label="Activity" aria-busy={isPlaceholderData}>
              {shown ? (
                shown.map((activity) => <ActivityEntry key={activity.id} activity={activity} names={names} />)
              ) : (
                <EntrySkeletons />
              )}
            </ol>
          )}
        </Panel>
      )}
      {shown && (
        <Group justify="space-between" className={classes.end}>
          <span role="status">
            {plural(shown.length, 'entry', 'entries')}
            {hasNextPage && ' loaded'}
          </span>
          {hasNextPage && (
            <Button variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
              Load more
            </Button>
          )}
        </Group>
      )}
    </Page>
  );
}

/** The services whose name contains the text; undefined while the server searches them. */
function useFoundServices(text = ''): readonly { id: string; name: string }[] | undefined {
  const api = useApi();
  const { organizationId } = useSession();
  const search = text.trim().slice(0, MAX_TEXT_LENGTH);
  const { data, isLoading } = useQuery({
    ...foundServicesQuery(api, organizationId, search),
    enabled: search !== '',
  });
  if (isLoading) return undefined;
  return search === '' ? [] : (data ?? []);
}

function NoActivity({ isFiltered, hasMore, onClear }: { isFiltered: boolean; hasMore: boolean; onClear: () => void }) {
  if (hasMore)
    return (
      <EmptyState title="No matches so far">
        The newest entries do not match. Load more to search older ones.
      </EmptyState>
    );
  if (!isFiltered)
    return <EmptyState title="No activity yet">Changes to services, keys and dashboards appear here.</EmptyState>;
  return (
    <EmptyState
      title="No matching activity"
      action={
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      }
    >
      No changes match these filters.
    </EmptyState>
  );
}
