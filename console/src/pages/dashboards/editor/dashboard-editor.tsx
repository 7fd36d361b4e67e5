import { Alert, Button, Group, Menu, Stack, TagsInput, TextInput } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, formatError } from '../../../api/errors.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { UnsavedGuard } from '../../../parts/forms/unsaved-guard.tsx';
import { EmptyState } from '../../../parts/layout/empty-state.tsx';
import { PlusIcon, WarningIcon } from '../../../parts/layout/icons.tsx';
import { notifySuccess } from '../../../parts/messages/notifications.ts';
import { dashboardConstraints } from '../constraints.ts';
import { isEqual } from '../equality.ts';
import { findErrorWithin } from '../field-errors.ts';
import type { GridPosition } from '../grid/grid.ts';
import {
  dashboardQuery,
  dashboardsQuery,
  fetchDashboard,
  type StoredDashboard,
  type Tile,
  type TimeWindow,
} from '../queries.ts';
import { ConflictDialog } from './conflict-dialog.tsx';
import { createTile, type Draft, duplicateTile, TILE_TYPES, toDraft, toRequestBody } from './draft.ts';
import { DraftTile } from './draft-tile.tsx';
import { EditGrid } from './edit-grid.tsx';
import classes from './editor.module.css';
import { FiltersEditor } from './filters-editor.tsx';
import { TileEditor } from './tile-editor.tsx';
import { findVariableErrors, listEditedVariables } from './variable-draft.ts';

interface Props {
  stored: StoredDashboard;
  window: TimeWindow;
  /** Returns to the view. */
  onLeave: () => void;
}

const PRECONDITION_FAILED = 412;

export default function DashboardEditor({ stored, window, onLeave }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const { id } = stored.dashboard;
  const [base, setBase] = useState(stored);
  const [draft, setDraft] = useState<Draft>(() => toDraft(stored.dashboard));
  const [theirs, setTheirs] = useState<StoredDashboard>();
  const [isEditingFilters, setIsEditingFilters] = useState(false);
  const [editedId, setEditedId] = useState<string>();
  const isDirty = !isEqual(draft, toDraft(base.dashboard));
  const edited = draft.tiles.find((tile) => tile.id === editedId);

  const save = useMutation({
    async mutationFn(etag: string) {
      const saved = await api.updateDashboard({ id, 'if-match': etag, body: toRequestBody(draft) });
      queries.setQueryData(dashboardQuery(api, organizationId, id).queryKey, await fetchDashboard(api, id));
      return saved;
    },
    async onSuccess({ name }) {
      setTheirs(undefined);
      await queries.invalidateQueries({ queryKey: dashboardsQuery(api, organizationId).queryKey, exact: true });
      notifySuccess(`Saved dashboard ${name}`);
      onLeave();
    },
    async onError(error) {
      if (error instanceof ApiError && error.status === PRECONDITION_FAILED) setTheirs(await fetchDashboard(api, id));
    },
  });
  const change = (part: Partial<Draft>) => {
    if (save.error) save.reset();
    setDraft((before) => ({ ...before, ...part }));
  };
  const setTile = (tile: Tile) => change({ tiles: draft.tiles.map((other) => (other.id === tile.id ? tile : other)) });
  const move = (places: ReadonlyMap<string, GridPosition>) => {
    const tiles = draft.tiles.map((tile) => ({ ...tile, ...places.get(tile.id) }));
    if (!isEqual(tiles, draft.tiles)) change({ tiles });
  };
  const add = (tile: Tile, shouldOpen: boolean) => {
    change({ tiles: [...draft.tiles, tile] });
    if (shouldOpen) setEditedId(tile.id);
  };
  const takeTheirs = () => {
    if (!theirs) return;
    queries.setQueryData(dashboardQuery(api, organizationId, id).queryKey, theirs);
    setBase(theirs);
    setDraft(toDraft(theirs.dashboard));
    setTheirs(undefined);
    save.reset();
  };
  const variables = listEditedVariables(draft, base.dashboard.filters);
  const isValid =
    draft.name !== '' && variables.every((one) => Object.keys(findVariableErrors(one, variables)).length === 0);
  const submit = () => isDirty && isValid && !save.isPending && save.mutate(base.etag);
  useHotkeys([['mod+S', submit]], []);
  const tileError = (index: number) => findErrorWithin(save.error, `tiles.${index}`);
  const isConflict = save.error instanceof ApiError && save.error.status === PRECONDITION_FAILED;
  const isSessionEnded = save.error instanceof ApiError && save.error.status === 401;

  return (
    <Stack gap="md">
      <div className={classes.head}>
        <TextInput
          label="Name"
          value={draft.name}
          maxLength={dashboardConstraints.name.maxLength}
          error={findErrorWithin(save.error, 'name')}
          onChange={(event) => change({ name: event.currentTarget.value })}
          style={{ flex: '2 1 200px' }}
        />
        <TagsInput
          label="Tags"
          placeholder={draft.tags.length === 0 ? 'Press Enter to add' : ''}
          maxTags={dashboardConstraints.tags.maxItems}
          value={draft.tags}
          error={findErrorWithin(save.error, 'tags')}
          onChange={(tags) => change({ tags })}
          style={{ flex: '2 1 200px' }}
        />
        <Group gap="xs">
          <Menu position="bottom-end">
            <Menu.Target>
              <Button variant="default" leftSection={<PlusIcon size={15} />}>
                Add tile
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {TILE_TYPES.map(({ value, label }) => (
                <Menu.Item key={value} onClick={() => add(createTile(draft, value, 'logs'), true)}>
                  {label}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
          <Button variant="default" onClick={() => setIsEditingFilters(true)}>
            Filters
          </Button>
          <Button onClick={submit} disabled={!isDirty || !isValid} loading={save.isPending}>
            Save
          </Button>
          <Button variant="default" onClick={onLeave} disabled={save.isPending}>
            {isDirty ? 'Discard' : 'Done'}
          </Button>
        </Group>
      </div>
      {save.error && !isConflict && !isSessionEnded && (
        <Alert color="red" variant="light" icon={<WarningIcon />} title="Could not save the dashboard" role="alert">
          {formatError(save.error)}
        </Alert>
      )}
      {draft.tiles.length === 0 && <EmptyState title="No tiles yet">Use the Add tile button to add one.</EmptyState>}
      <EditGrid tiles={draft.tiles} onMove={move}>
        {(tile) => (
          <DraftTile
            dashboardId={id}
            tile={tile}
            stored={base.dashboard.tiles.find((one) => one.id === tile.id)}
            window={window}
            error={tileError(draft.tiles.indexOf(tile))}
            onEdit={() => setEditedId(tile.id)}
            onCopy={() => add(duplicateTile(draft, tile), false)}
            onDelete={() => change({ tiles: draft.tiles.filter((other) => other.id !== tile.id) })}
          />
        )}
      </EditGrid>
      {isEditingFilters && (
        <FiltersEditor
          draft={draft}
          stored={base.dashboard}
          window={window}
          onChange={change}
          onClose={() => setIsEditingFilters(false)}
        />
      )}
      {edited && (
        <TileEditor
          tile={edited}
          window={window}
          errorAt={(path) => findErrorWithin(save.error, `tiles.${draft.tiles.indexOf(edited)}.${path}`)}
          onChange={setTile}
          onClose={() => setEditedId(undefined)}
        />
      )}
      {theirs && (
        <ConflictDialog
          base={base.dashboard}
          theirs={theirs}
          isBusy={save.isPending}
          onTakeTheirs={takeTheirs}
          onOverwrite={() => save.mutate(theirs.etag)}
          onKeepEditing={() => setTheirs(undefined)}
        />
      )}
      <UnsavedGuard isDirty={isDirty && !save.isPending} isLeavingEditor={({ edit }) => edit !== true}>
        Your changes to <b>{draft.name}</b> have not been saved.
      </UnsavedGuard>
    </Stack>
  );
}
