import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useSession } from '../../../app/context.tsx';
import { ActionsMenu } from '../../../parts/forms/actions-menu.tsx';
import { ConfirmDialog } from '../../../parts/forms/confirm-dialog.tsx';
import { notifyError, notifySuccess } from '../../../parts/messages/notifications.ts';
import { type SavedQuery, savedQueriesQuery } from '../queries.ts';
import classes from '../sql.module.css';
import { ListDrawer } from './list-drawer.tsx';
import { type Draft, SaveQueryDialog } from './save-query-dialog.tsx';

interface Props {
  serviceId: string;
  /** What replaces the text of a saved query. */
  draft: Draft;
  onOpen: (saved: SavedQuery) => void;
  onClose: () => void;
}

/** The saved queries of a service, which all members of the organization share. */
export function SavedDrawer({ serviceId, draft, onOpen, onClose }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const [renamed, setRenamed] = useState<SavedQuery>();
  const [deleted, setDeleted] = useState<{ id: string; name: string }>();
  const options = savedQueriesQuery(api, organizationId, serviceId);
  const list = useQuery(options);
  const refresh = () => queries.invalidateQueries({ queryKey: options.queryKey });
  const read = (queryId: string, then: (saved: SavedQuery) => void) =>
    api
      .savedQueryGet({ organizationId, serviceId, queryId })
      .then(then, (failure) => notifyError('Could not load the saved query', failure));
  const replace = (saved: SavedQuery) =>
    api.savedQueryUpdate({ organizationId, serviceId, queryId: saved.id, body: { name: saved.name, ...draft } }).then(
      () => notifySuccess(`Replaced the text of ${saved.name}`),
      (failure) => notifyError('Could not change the saved query', failure),
    );
  return (
    <>
      <ListDrawer
        title="Saved queries"
        isOpen={!renamed && !deleted}
        list={list}
        find="Find by name"
        getText={({ name }) => name}
        empty="No queries are saved. All users who may read the service share its saved queries."
        noMatch="No saved query has this name."
        renderItem={({ id, name, database }) => (
          <>
            <button type="button" className={classes.entry} onClick={() => read(id, onOpen)}>
              <code>{name}</code>
              {database !== '' && <div className={classes.facts}>Database {database}</div>}
            </button>
            <ActionsMenu
              subject={name}
              actions={[
                { name: 'Replace with current statement', onClick: () => read(id, replace) },
                { name: 'Rename', onClick: () => read(id, setRenamed) },
              ]}
              onDelete={() => setDeleted({ id, name })}
            />
          </>
        )}
        onClose={onClose}
      />
      {renamed && (
        <SaveQueryDialog serviceId={serviceId} draft={renamed} saved={renamed} onClose={() => setRenamed(undefined)} />
      )}
      {deleted && (
        <ConfirmDialog
          opened
          title="Delete saved query"
          action="Delete"
          isDangerous
          onConfirm={async () => {
            await api.savedQueryDelete({ organizationId, serviceId, queryId: deleted.id });
            await refresh();
          }}
          onClose={() => setDeleted(undefined)}
        >
          <b>{deleted.name}</b> is deleted for all members of the organization.
        </ConfirmDialog>
      )}
    </>
  );
}
