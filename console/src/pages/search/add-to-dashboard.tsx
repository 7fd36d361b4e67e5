import { Modal, Radio, Select, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { formatError } from '../../api/errors.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { createTile, toDraft, toRequestBody } from '../dashboards/editor/draft.ts';
import { dashboardsQuery, fetchDashboard, type Tile } from '../dashboards/queries.ts';
import { combineConditions } from './conditions.ts';
import type { SearchState } from './use-search-state.ts';

const NEW = 'new';

/** Adds the search to a dashboard, as a table of its rows or as their number. */
export function AddToDashboard({ state, onClose }: { state: SearchState; onClose: () => void }) {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const { data: dashboards = [] } = useQuery(dashboardsQuery(api, organizationId));
  const { source, search, filters, columns } = state;
  const [kind, setKind] = useState<'search' | 'number'>('search');
  const [name, setName] = useState(search.where ?? source.name);
  const [dashboardId, setDashboardId] = useState(NEW);
  const [dashboardName, setDashboardName] = useState('');
  const condition = combineConditions(search.where ?? '', search.lang ?? 'lucene', filters);

  const add = useMutation({
    async mutationFn() {
      if (!condition) throw new Error(CANNOT_COMBINE);
      const addTile = (draft: Parameters<typeof createTile>[0]) => {
        const tile: Tile = createTile(draft, kind, source.id);
        const series = tile.series.map((one) => ({
          ...one,
          ...condition,
          ...(kind === 'search' ? { fields: [...columns] } : {}),
        }));
        return { ...draft, tiles: [...draft.tiles, { ...tile, name, series }] };
      };
      if (dashboardId === NEW) {
        const draft = addTile(toDraft({ id: '', name: dashboardName.trim(), tags: [], tiles: [] }));
        return api.createDashboard({ body: toRequestBody(draft) });
      }
      const { dashboard, etag } = await fetchDashboard(api, dashboardId);
      const body = toRequestBody(addTile(toDraft(dashboard)));
      return api.updateDashboard({ id: dashboardId, 'if-match': etag, body });
    },
    async onSuccess({ name: changed }) {
      await queries.invalidateQueries({ queryKey: dashboardsQuery(api, organizationId).queryKey });
      notifySuccess(`Added a tile to ${changed}`);
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title="Add to dashboard" centered>
      <form
        aria-label="Add to dashboard"
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate();
        }}
      >
        <Stack gap="md">
          <Radio.Group label="Show" value={kind} onChange={(value) => setKind(value as 'search' | 'number')}>
            <Stack gap={6} mt={4}>
              <Radio value="search" label="The rows, as a table" />
              <Radio value="number" label="The number of rows" />
            </Stack>
          </Radio.Group>
          <TextInput label="Title of the tile" value={name} onChange={(event) => setName(event.currentTarget.value)} />
          <Select
            label="Dashboard"
            allowDeselect={false}
            searchable
            data={[
              { value: NEW, label: 'A new dashboard' },
              ...dashboards.map(({ id, name: label }) => ({ value: id, label })),
            ]}
            value={dashboardId}
            onChange={(value) => value && setDashboardId(value)}
          />
          {dashboardId === NEW && (
            <TextInput
              label="Name of the dashboard"
              required
              value={dashboardName}
              onChange={(event) => setDashboardName(event.currentTarget.value)}
            />
          )}
          <FormEnd
            error={condition ? (add.error ? formatError(add.error) : undefined) : CANNOT_COMBINE}
            submit="Add"
            isPending={add.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}

const CANNOT_COMBINE =
  'A tile has one condition only, and these filters cannot be written in Lucene. Write the query in SQL to add it.';
