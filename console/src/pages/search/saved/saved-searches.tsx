import { Button, Drawer, Group, Pill, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useSession } from '../../../app/context.tsx';
import { plural } from '../../../parts/format/format.ts';
import { ActionsMenu } from '../../../parts/forms/actions-menu.tsx';
import { ConfirmDialog } from '../../../parts/forms/confirm-dialog.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { notifyError, notifySuccess } from '../../../parts/messages/notifications.ts';
import { type SavedSearch, savedSearchesQuery } from '../queries.ts';
import classes from '../search.module.css';
import type { SearchState } from '../use-search-state.ts';
import { SaveDialog } from './save-dialog.tsx';
import { countUnusable, isSameSearch, toBody, toRowSearch } from './saved-search.ts';

/** Buttons for the saved searches, and for saving the current one. */
export function SavedSearches({ state }: { state: SearchState }) {
  const api = useApi();
  const { organizationId, canChangeDashboards } = useSession();
  const queries = useQueryClient();
  const [isListed, setIsListed] = useState(false);
  const [edited, setEdited] = useState<SavedSearch | 'new' | 'alert'>();
  const [deleted, setDeleted] = useState<SavedSearch>();
  const { search, change } = state;
  const navigate = useNavigate();
  const list = useQuery({
    ...savedSearchesQuery(api, organizationId),
    enabled: isListed || search.saved !== undefined,
  });
  const current = list.data?.find(({ id }) => id === search.saved);
  const refresh = () => queries.invalidateQueries({ queryKey: savedSearchesQuery(api, organizationId).queryKey });
  const createAlert = (savedSearchId: string) => void navigate({ to: '/alerts/new', search: { savedSearchId } });
  const update = useMutation({
    mutationFn: (saved: SavedSearch) => api.updateSavedSearch({ id: saved.id, body: toBody(state, saved) }),
    async onSuccess({ id, name }) {
      await refresh();
      change({ saved: id }, false);
      notifySuccess(`Updated the saved search ${name}`);
    },
    onError: (error) => notifyError('Could not update the saved search', error),
  });
  return (
    <>
      {current && countUnusable(current) > 0 && (
        <Text size="sm" c="var(--ph-warn)">
          {plural(countUnusable(current), 'Lucene filter')} of it not applied
        </Text>
      )}
      {current && (
        <Text size="sm" c="dimmed" maw={260} truncate title={current.name}>
          {current.name}
          {isSameSearch(state, current) ? '' : ' (changed)'}
        </Text>
      )}
      {current && canChangeDashboards && !isSameSearch(state, current) && (
        <Button variant="default" loading={update.isPending} onClick={() => update.mutate(current)}>
          Update
        </Button>
      )}
      {canChangeDashboards && (
        <Button variant="default" onClick={() => setEdited('new')}>
          Save
        </Button>
      )}
      <Button variant="default" onClick={() => setIsListed(true)}>
        Saved searches
      </Button>
      {canChangeDashboards && (
        <Button
          variant="default"
          onClick={() => (current && isSameSearch(state, current) ? createAlert(current.id) : setEdited('alert'))}
        >
          Create alert
        </Button>
      )}
      <Drawer
        opened={isListed}
        onClose={() => setIsListed(false)}
        title="Saved searches"
        position="right"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {list.error && !list.data ? (
          <ErrorNotice error={list.error} title="Could not load saved searches" retry={() => list.refetch()} />
        ) : (
          <SavedList
            list={list.data}
            canChange={canChangeDashboards}
            onOpen={(saved) => {
              setIsListed(false);
              change(toRowSearch(saved));
            }}
            onUpdate={update.mutate}
            onEdit={setEdited}
            onAlert={({ id }) => createAlert(id)}
            onDelete={setDeleted}
          />
        )}
      </Drawer>
      {edited && (
        <SaveDialog
          state={state}
          edited={typeof edited === 'string' ? undefined : edited}
          purpose={edited === 'alert' ? 'An alert watches a saved search, so the search is saved first.' : undefined}
          onClose={() => setEdited(undefined)}
          onSaved={async (saved) => {
            await refresh();
            if (edited === 'alert') createAlert(saved.id);
            else if (edited === 'new') change({ saved: saved.id }, false);
          }}
        />
      )}
      {deleted && (
        <ConfirmDialog
          opened
          title="Delete saved search"
          action="Delete"
          isDangerous
          onConfirm={async () => {
            await api.deleteSavedSearch({ id: deleted.id });
            await refresh();
            if (search.saved === deleted.id) change({ saved: undefined }, false);
          }}
          onClose={() => setDeleted(undefined)}
        >
          Delete <b>{deleted.name}</b>? Links that contain its conditions still work.
        </ConfirmDialog>
      )}
    </>
  );
}

interface ListProps {
  list: readonly SavedSearch[] | undefined;
  canChange: boolean;
  onOpen: (saved: SavedSearch) => void;
  onUpdate: (saved: SavedSearch) => void;
  onEdit: (saved: SavedSearch) => void;
  onAlert: (saved: SavedSearch) => void;
  onDelete: (saved: SavedSearch) => void;
}

function SavedList({ list, canChange, onOpen, onUpdate, onEdit, onAlert, onDelete }: ListProps) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found = (list ?? []).filter(({ name, tags }) =>
    [name, ...tags].some((one) => one.toLowerCase().includes(wanted)),
  );
  return (
    <Stack gap="sm">
      <TextInput
        aria-label="Find by name or tag"
        placeholder="Find by name or tag"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {list && found.length === 0 && (
        <Text size="sm" c="dimmed">
          {list.length === 0 ? 'No searches are saved.' : 'No saved search has this name or tag.'}
        </Text>
      )}
      <ul className={classes.savedList} aria-label="Saved searches">
        {found.map((saved) => (
          <li key={saved.id}>
            <div className={classes.savedName}>
              <Button
                variant="transparent"
                size="compact-sm"
                px={0}
                h="auto"
                styles={{ label: { whiteSpace: 'normal', overflowWrap: 'anywhere', textAlign: 'start' } }}
                onClick={() => onOpen(saved)}
              >
                {saved.name}
              </Button>
              <Group gap={4}>
                {saved.tags.map((tag) => (
                  <Pill key={tag} size="xs">
                    {tag}
                  </Pill>
                ))}
              </Group>
            </div>
            {canChange && (
              <ActionsMenu
                subject={saved.name}
                actions={[
                  { name: 'Replace with current search', onClick: () => onUpdate(saved) },
                  { name: 'Name and tags', onClick: () => onEdit(saved) },
                  { name: 'Create alert', onClick: () => onAlert(saved) },
                ]}
                onDelete={() => onDelete(saved)}
              />
            )}
          </li>
        ))}
      </ul>
    </Stack>
  );
}
