import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { sourcesQuery } from '../../api/queries.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { SearchView } from './search-view.tsx';

/** Finds rows of logs and traces. */
export function SearchPage() {
  const api = useApi();
  const { organizationId } = useSession();
  const { source: sourceId } = useSearch({ from: '/signed-in/search' });
  const { data, error, refetch } = useQuery(sourcesQuery(api, organizationId));
  const sources = data?.filter(({ kind, disabled }) => kind !== 'metric' && disabled !== true);
  const source = sources?.find(({ id }) => id === sourceId) ?? (sourceId === undefined ? sources?.[0] : undefined);
  if (sources && source) return <SearchView key={source.id} source={source} sources={sources} />;
  return (
    <Page title="Search">
      {error ? (
        <ErrorNotice error={error} title="Could not load sources" retry={() => refetch()} />
      ) : sources === undefined ? (
        <Skeleton height={320} />
      ) : (
        <Panel>
          <EmptyState
            title="There is no such source"
            action={
              <Button renderRoot={(props) => <Link to="/search" search={{}} {...props} />}>
                Search the first source
              </Button>
            }
          >
            The source {sourceId} does not exist, or has neither logs nor traces.
          </EmptyState>
        </Panel>
      )}
    </Page>
  );
}
