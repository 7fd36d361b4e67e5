import { Autocomplete, Input, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { createAlertConstraints } from '../../../api/generated.ts';
import { sourcesQuery } from '../../../api/queries.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { CONDITION_LABELS, type Condition } from '../../../parts/alerts/alert-status.ts';
import { isAlerted } from '../../../parts/alerts/alerted-tile.ts';
import { SeriesFields } from '../../dashboards/editor/series-fields.tsx';
import { dashboardsQuery, type Series } from '../../dashboards/queries.ts';
import { resolveRange, resolveZone } from '../../dashboards/time-window/range.ts';
import { columnsQuery, listSuggestions } from '../../dashboards/where/suggestions.ts';
import { toSeries } from '../../search/columns.ts';
import { savedSearchesQuery } from '../../search/queries.ts';
import classes from '../alerts.module.css';
import { type AlertDraft, CONDITION_DEFAULTS } from './alert-draft.ts';

const SOURCE_LABELS: Readonly<Record<AlertDraft['source'], string>> = {
  saved_search: 'Saved search',
  tile: 'Dashboard tile',
  metric: 'Metric or events',
  condition: 'Condition',
};

export interface FieldsProps {
  draft: AlertDraft;
  errorAt: (path: string) => string | undefined;
  onChange: (part: Partial<AlertDraft>) => void;
}

/** What the alert watches. */
export function WatchFields(props: FieldsProps) {
  const { draft, errorAt, onChange } = props;
  return (
    <Stack gap="md">
      <Input.Wrapper labelElement="div" label="Source" error={errorAt('source')}>
        <div className={classes.choices}>
          <SegmentedControl
            aria-label="Source"
            data={createAlertConstraints.source.values.map((value) => ({ value, label: SOURCE_LABELS[value] }))}
            value={draft.source}
            onChange={(source) => onChange({ source: source as AlertDraft['source'] })}
          />
        </div>
      </Input.Wrapper>
      {draft.source === 'saved_search' && <SavedSearchFields {...props} />}
      {draft.source === 'tile' && <TileFields {...props} />}
      {draft.source === 'metric' && <MetricFields {...props} />}
      {draft.source === 'condition' && (
        <Select
          label="Condition"
          description="Each service, key or budget has its own state."
          placeholder="Choose a condition"
          data={Object.entries(CONDITION_LABELS).map(([value, label]) => ({ value, label }))}
          allowDeselect={false}
          value={draft.condition}
          error={errorAt('condition')}
          onChange={(value) => {
            const condition = value as Condition;
            onChange({ condition, ...CONDITION_DEFAULTS[condition] });
          }}
        />
      )}
    </Stack>
  );
}

function SavedSearchFields({ draft, errorAt, onChange }: FieldsProps) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data = [] } = useQuery(savedSearchesQuery(api, organizationId));
  const saved = data.find(({ id }) => id === draft.savedSearchId);
  return (
    <div className={classes.fields}>
      <Select
        label="Saved search"
        description="The alert counts its rows."
        placeholder="Choose a saved search"
        nothingFoundMessage="Save a search on the search page first."
        searchable
        allowDeselect={false}
        data={data.map(({ id, name }) => ({ value: id, label: name }))}
        value={draft.savedSearchId}
        error={errorAt('savedSearchId')}
        onChange={(savedSearchId) => onChange({ savedSearchId })}
      />
      <GroupByField sourceId={saved?.sourceId} draft={draft} errorAt={errorAt} onChange={onChange} />
    </div>
  );
}

function TileFields({ draft, errorAt, onChange }: FieldsProps) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data = [] } = useQuery(dashboardsQuery(api, organizationId));
  const tiles = (data.find(({ id }) => id === draft.dashboardId)?.tiles ?? []).filter(isAlerted);
  return (
    <>
      <div className={classes.fields}>
        <Select
          label="Dashboard"
          placeholder="Choose a dashboard"
          searchable
          allowDeselect={false}
          data={data.map(({ id, name }) => ({ value: id, label: name }))}
          value={draft.dashboardId}
          error={errorAt('dashboardId')}
          onChange={(dashboardId) => onChange({ dashboardId, tileId: null })}
        />
        <Select
          label="Tile"
          placeholder="Choose a tile"
          nothingFoundMessage="The dashboard has no line, bar or number tiles."
          searchable
          allowDeselect={false}
          data={tiles.map(({ id, name }) => ({ value: id, label: name || 'Untitled tile' }))}
          value={draft.tileId}
          error={errorAt('tileId')}
          onChange={(tileId) => onChange({ tileId })}
        />
      </div>
      <Text size="xs" c="dimmed">
        Line, bar and number tiles. The alert watches the last series of the tile, or its ratio; each group of the tile
        has its own state.
      </Text>
    </>
  );
}

function MetricFields({ draft, errorAt, onChange }: FieldsProps) {
  const api = useApi();
  const { organizationId } = useSession();
  const sources = useQuery(sourcesQuery(api, organizationId)).data ?? [];
  const dashboards = useQuery(dashboardsQuery(api, organizationId)).data ?? [];
  const [window] = useState(createWindow);
  return (
    <>
      <SeriesFields
        series={draft.series}
        sources={sources}
        dashboards={dashboards}
        window={window}
        hasLabel={false}
        errorAt={(member) => errorAt(`metric.${member}`)}
        onChange={(series: Series) => onChange({ series })}
      />
      <div className={classes.fields}>
        <GroupByField sourceId={draft.series.sourceId} draft={draft} errorAt={errorAt} onChange={onChange} />
      </div>
    </>
  );
}

/** The last hour, for suggestions. */
const createWindow = () => ({ ...resolveRange({}, Date.now()), zone: resolveZone({}) });

function GroupByField({ sourceId, draft, errorAt, onChange }: FieldsProps & { sourceId: string | undefined }) {
  const api = useApi();
  const { organizationId } = useSession();
  const [window] = useState(createWindow);
  const { data } = useQuery(columnsQuery(api, organizationId, toSeries(sourceId ?? ''), window));
  return (
    <Autocomplete
      label="Group by"
      description="An SQL expression. Each value has its own state."
      placeholder="ServiceName"
      data={listSuggestions([], sourceId ?? '', data).expressions}
      limit={50}
      value={draft.groupBy}
      error={errorAt('groupBy')}
      onChange={(groupBy) => onChange({ groupBy })}
    />
  );
}
