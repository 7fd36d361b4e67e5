import {
  Button,
  Drawer,
  Fieldset,
  Group,
  NumberInput,
  Select,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { sourcesQuery } from '../../../api/queries.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { PlusIcon } from '../../../parts/layout/icons.tsx';
import { Note } from '../../../parts/layout/note.tsx';
import { seriesConstraints, tileConstraints } from '../constraints.ts';
import { findErrorWithin } from '../field-errors.ts';
import { COLUMNS, MAX_TILE_ROWS } from '../grid/grid.ts';
import { dashboardsQuery, type Series, type Tile, type TileType, type TimeWindow } from '../queries.ts';
import { changeTileType, createSeries, isAggregated, isDistribution, TILE_TYPES, withoutConfig } from './draft.ts';
import classes from './editor.module.css';
import { FormatFields } from './format-fields.tsx';
import { SeriesFields } from './series-fields.tsx';
import { TilePreview, usePreview } from './tile-preview.tsx';

type DisplayType = NonNullable<Series['displayType']>;
type SortOrder = NonNullable<Series['sortOrder']>;

const DISPLAY_LABELS: Record<DisplayType, string> = {
  line: 'Lines',
  stacked_bar: 'Stacked bars',
  stacked_line: 'Stacked areas',
};
const SORT_LABELS: Record<SortOrder, string> = { asc: 'Lowest first', desc: 'Highest first' };

interface Props {
  tile: Tile;
  window: TimeWindow;
  /** The error of a field such as `series[0].where` from the last attempt to save. */
  errorAt: (path: string) => string | undefined;
  onChange: (tile: Tile) => void;
  onClose: () => void;
}

/** Edits one tile of the draft. Changes take effect when the dashboard is saved. */
export function TileEditor({ tile, window, errorAt, onChange, onClose }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const sources = useQuery(sourcesQuery(api, organizationId)).data ?? [];
  const dashboards = useQuery(dashboardsQuery(api, organizationId)).data ?? [];
  const preview = usePreview(tile, window);
  const type = tile.series[0]?.type ?? 'time';
  const hasAggregations = isAggregated(type) || (type === 'heatmap' && tile.series[0]?.aggFn !== undefined);
  const numbered = tile.series.map((series, index) => ({ series, index, key: `series-${index}` }));
  const setSeries = (series: Series[]) =>
    onChange({ ...withoutConfig(tile), series, asRatio: tile.asRatio && series.length === 2 });
  const setOne = (index: number, one: Series) =>
    // All series of a tile share the grouping.
    setSeries(
      tile.series.map((other, at) => (at === index ? one : index === 0 ? { ...other, groupBy: one.groupBy } : other)),
    );
  const seriesError = (index: number) => (member: string) => {
    const path = `series[${index}].${member}`;
    return errorAt(path) ?? findErrorWithin(preview.error, path);
  };
  const positionField = (name: 'x' | 'y' | 'w' | 'h', label: string, min: number, max: number) => (
    <NumberInput
      label={label}
      min={min}
      max={max}
      allowDecimal={false}
      value={tile[name]}
      error={errorAt(name)}
      onChange={(value) => typeof value === 'number' && onChange({ ...tile, [name]: value })}
    />
  );
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="min(720px, 100vw)"
      title={tile.name || 'Untitled tile'}
      transitionProps={{ duration: 0 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap="md">
        <section className={classes.preview} aria-label="Preview">
          <TilePreview tile={tile} window={window} />
        </section>
        {tile.config && (
          <Note tone="warn">
            This tile was saved in the ClickStack format. Changing its query or type removes the settings of that format
            that this editor does not show; its name and position can be changed.
          </Note>
        )}
        <div className={classes.fields}>
          <TextInput
            label="Name"
            value={tile.name}
            error={errorAt('name')}
            maxLength={tileConstraints.name.maxLength}
            data-autofocus
            onChange={(event) => onChange({ ...tile, name: event.currentTarget.value })}
          />
          <Select
            label="Type"
            allowDeselect={false}
            data={TILE_TYPES}
            value={type}
            onChange={(value) => value && onChange(changeTileType(tile, value as TileType, sources[0]?.id ?? 'logs'))}
          />
          {type === 'time' && (
            <Select
              label="Display"
              allowDeselect={false}
              data={seriesConstraints.displayType.values.map((value) => ({ value, label: DISPLAY_LABELS[value] }))}
              value={tile.series[0]?.displayType ?? 'line'}
              onChange={(value) => setSeries(tile.series.map((one) => ({ ...one, displayType: value as DisplayType })))}
            />
          )}
          {type === 'table' && (
            <Select
              label="Sort order"
              allowDeselect={false}
              data={seriesConstraints.sortOrder.values.map((value) => ({ value, label: SORT_LABELS[value] }))}
              value={tile.series[0]?.sortOrder ?? 'desc'}
              onChange={(value) => setSeries(tile.series.map((one) => ({ ...one, sortOrder: value as SortOrder })))}
            />
          )}
        </div>
        {type === 'markdown' ? (
          <Textarea
            label="Text"
            description="Markdown"
            autosize
            minRows={6}
            maxRows={18}
            value={tile.series[0]?.content ?? ''}
            error={errorAt('series[0].content')}
            onChange={(event) => setSeries([{ ...createSeries('markdown', ''), content: event.currentTarget.value }])}
          />
        ) : (
          numbered.map(({ series, index, key }) => (
            <Fieldset
              key={key}
              legend={tile.series.length > 1 ? `Series ${index + 1}` : 'Query'}
              className={classes.series}
            >
              <SeriesFields
                series={series}
                sources={sources}
                dashboards={dashboards}
                window={window}
                errorAt={seriesError(index)}
                onChange={(one) => setOne(index, one)}
              />
              {tile.series.length > 1 && (
                <Button
                  mt="sm"
                  size="compact-xs"
                  variant="default"
                  onClick={() => setSeries(tile.series.filter((_, at) => at !== index))}
                >
                  Remove series {index + 1}
                </Button>
              )}
            </Fieldset>
          ))
        )}
        {hasAggregations && (
          <Group justify="space-between">
            <Button
              variant="default"
              size="xs"
              leftSection={<PlusIcon size={14} />}
              disabled={tile.series.length >= tileConstraints.series.maxItems}
              onClick={() =>
                setSeries([
                  ...tile.series,
                  structuredClone(tile.series[tile.series.length - 1] ?? createSeries(type, 'logs')),
                ])
              }
            >
              Add series
            </Button>
            <Switch
              label="Show as ratio (series 1 ÷ series 2)"
              checked={tile.asRatio}
              disabled={tile.series.length !== 2}
              onChange={(event) => onChange({ ...withoutConfig(tile), asRatio: event.currentTarget.checked })}
            />
          </Group>
        )}
        {(hasAggregations || isDistribution(type)) && <FormatFields series={tile.series} onChange={setSeries} />}
        {type !== 'markdown' && (
          <Switch
            label="Ignore the filters of the dashboard"
            checked={tile.ignoresFilters ?? false}
            onChange={(event) => onChange({ ...tile, ignoresFilters: event.currentTarget.checked })}
          />
        )}
        <div>
          <Text size="sm" fw={600} mb={6}>
            Position ({COLUMNS}-column grid)
          </Text>
          <div className={classes.compactFields}>
            {positionField('x', 'Column', 0, COLUMNS - tile.w)}
            {positionField('y', 'Row', 0, tileConstraints.y.maximum)}
            {positionField('w', 'Width', 1, COLUMNS - tile.x)}
            {positionField('h', 'Height', 1, MAX_TILE_ROWS)}
          </div>
        </div>
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Drawer>
  );
}
