import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { keyListQuery } from '../../api/pages.ts';
import type { Key } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { useDialogInUrl } from '../../app/use-dialog-in-url.ts';
import { useListView } from '../../app/use-list.ts';
import { plural } from '../../parts/format/format.ts';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { PlusIcon } from '../../parts/layout/icons.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { ListEnd } from '../../parts/tables/list-end.tsx';
import { ListSearch } from '../../parts/tables/list-search.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { EditKeyDialog } from './edit-key-dialog.tsx';
import { type KeyAction, KeyActionDialog } from './key-action-dialog.tsx';
import { KeyTable } from './key-table.tsx';
import classes from './keys.module.css';
import { RotateKeyDialog } from './rotate-key-dialog.tsx';

/** Minimum number of keys to show the search field. */
const SEARCH_THRESHOLD = 8;

export function KeysPage() {
  const api = useApi();
  const { organizationId, can } = useSession();
  const { text, setText, order, view } = useListView();
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery(
    keyListQuery(api, organizationId, view),
  );
  const keys = data?.pages.flatMap(({ records }) => records);
  const count = keys?.length ?? 0;
  const isSearching = text !== '' || view.search !== '';
  const [isCreating, setIsCreating] = useDialogInUrl('create');
  const [chosen, setChosen] = useState<{ target: Key; action: KeyAction }>();
  const create = can('openapiKeyCreate') && (
    <Button leftSection={<PlusIcon size={16} />} onClick={() => setIsCreating(true)}>
      Create key
    </Button>
  );
  return (
    <Page
      title="Keys"
      subtitle={keys ? `${hasNextPage ? 'More than ' : ''}${plural(count, 'API key')}` : 'Loading…'}
      actions={create}
    >
      {error && !data ? (
        <ErrorNotice error={error} title="Could not load keys" retry={() => refetch()} />
      ) : (
        <Panel flush>
          {(isSearching || count >= SEARCH_THRESHOLD) && (
            <ListSearch className={classes.filter} label="Search keys" value={text} onChange={setText} />
          )}
          {keys?.length === 0 ? (
            <NoKeys isSearching={isSearching} action={create} />
          ) : (
            <KeyTable
              keys={keys}
              order={order}
              {...(can('openapiKeyUpdate') ? { onAction: (target, action) => setChosen({ target, action }) } : {})}
            />
          )}
        </Panel>
      )}
      {hasNextPage && (
        <ListEnd count={plural(count, 'API key')} isLoading={isFetchingNextPage} onMore={() => fetchNextPage()} />
      )}
      {isCreating && can('openapiKeyCreate') && <CreateKeyDialog onClose={() => setIsCreating(false)} />}
      {chosen && <ChosenDialog {...chosen} onClose={() => setChosen(undefined)} />}
    </Page>
  );
}

function NoKeys({ isSearching, action }: { isSearching: boolean; action: ReactNode }) {
  if (isSearching) return <EmptyState title="No matching keys" />;
  return (
    <EmptyState title="No keys yet" action={action}>
      A key lets a script or a person use the API with the roles you choose.
    </EmptyState>
  );
}

function ChosenDialog({ target, action, onClose }: { target: Key; action: KeyAction; onClose: () => void }) {
  if (action === 'edit') return <EditKeyDialog target={target} onClose={onClose} />;
  if (action === 'rotate') return <RotateKeyDialog target={target} onClose={onClose} />;
  return <KeyActionDialog target={target} action={action} onClose={onClose} />;
}
