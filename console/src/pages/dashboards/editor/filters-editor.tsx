import {
  Autocomplete,
  Button,
  Drawer,
  Fieldset,
  Group,
  Select,
  Stack,
  Switch,
  TagsInput,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { sourcesQuery } from '../../../api/queries.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import { PlusIcon } from '../../../parts/layout/icons.tsx';
import { toSeries } from '../../search/columns.ts';
import { dashboardConstraints } from '../constraints.ts';
import { listUnsupported, type Variable } from '../filters/variable.ts';
import type { Dashboard, TimeWindow } from '../queries.ts';
import { LANGUAGES } from '../where/language-control.tsx';
import { columnsQuery, listSuggestions, type Source } from '../where/suggestions.ts';
import type { Draft } from './draft.ts';
import classes from './editor.module.css';
import {
  addVariable,
  changeVariable,
  findVariableErrors,
  listEditedVariables,
  removeVariable,
  toVariableName,
} from './variable-draft.ts';

interface Props {
  draft: Draft;
  stored: Dashboard;
  window: TimeWindow;
  onChange: (draft: Draft) => void;
  onClose: () => void;
}

/** Edits the variables of the draft, and the query that all tiles start with. */
export function FiltersEditor({ draft, stored, window, onChange, onClose }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const sources = useQuery(sourcesQuery(api, organizationId)).data ?? [];
  const variables = listEditedVariables(draft, stored.filters);
  const unsupported = listUnsupported(stored);
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="min(640px, 100vw)"
      title="Filters"
      transitionProps={{ duration: 0 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap="md">
        {variables.map((variable) => (
          <Fieldset key={variable.id} legend={variable.label || variable.name} className={classes.series}>
            <VariableFields
              variable={variable}
              sources={sources}
              window={window}
              errors={findVariableErrors(variable, variables)}
              onChange={(next) => onChange(changeVariable(draft, variable, next))}
            />
            <Button
              mt="sm"
              size="compact-xs"
              variant="default"
              onClick={() => onChange(removeVariable(draft, variable))}
            >
              Remove variable {variable.label || variable.name}
            </Button>
          </Fieldset>
        ))}
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<PlusIcon size={14} />}
            disabled={draft.filters.length >= dashboardConstraints.filters.maxItems}
            onClick={() => onChange(addVariable(draft, sources[0]?.id ?? 'logs'))}
          >
            Add variable
          </Button>
        </Group>
        <div className={classes.fields}>
          <TextInput
            label="Query for all tiles"
            description="Applied until the viewer enters another one"
            className={classes.wide}
            value={draft.savedQuery}
            spellCheck={false}
            onChange={(event) => onChange({ ...draft, savedQuery: event.currentTarget.value })}
          />
          <Select
            label="Language of the query"
            allowDeselect={false}
            data={LANGUAGES}
            value={draft.savedQueryLanguage}
            onChange={(value) => onChange({ ...draft, savedQueryLanguage: value === 'sql' ? 'sql' : 'lucene' })}
          />
        </div>
        {unsupported.length > 0 && (
          <p className={classes.kept}>Filters of other clients, kept as they are: {unsupported.join(', ')}</p>
        )}
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Drawer>
  );
}

interface FieldsProps {
  variable: Variable;
  sources: readonly Source[];
  window: TimeWindow;
  errors: ReturnType<typeof findVariableErrors>;
  onChange: (variable: Variable) => void;
}

const MAX_SUGGESTIONS = 50;
const MAX_VALUES = 50;

function VariableFields({ variable, sources, window, errors, onChange }: FieldsProps) {
  const api = useApi();
  const { organizationId } = useSession();
  const { source, label, name, isMulti } = variable;
  const sourceId = source?.sourceId ?? sources[0]?.id ?? 'logs';
  const { data: columns } = useQuery(columnsQuery(api, organizationId, toSeries(sourceId), window));
  const setLabel = (next: string) => {
    // The name follows the label until it is edited.
    const isDerived = name === toVariableName(label) || /^variable\d+$/.test(name);
    onChange({ ...variable, label: next, name: isDerived ? toVariableName(next) || name : name });
  };
  return (
    <div className={classes.fields}>
      <TextInput label="Label" value={label} onChange={(event) => setLabel(event.currentTarget.value)} />
      <TextInput
        label="Name"
        value={name}
        error={errors.name}
        onChange={(event) => onChange({ ...variable, name: event.currentTarget.value })}
      />
      <Select
        label="Values"
        allowDeselect={false}
        data={[
          { value: 'field', label: 'Those of the field' },
          { value: 'list', label: 'Fixed list' },
        ]}
        value={source ? 'field' : 'list'}
        onChange={(value) =>
          onChange({
            ...variable,
            source: value === 'list' ? undefined : { sourceId, where: '', whereLanguage: 'lucene' },
          })
        }
      />
      {source && (
        <Select
          label="Source"
          allowDeselect={false}
          data={sources.map(({ id, name: text }) => ({ value: id, label: text }))}
          value={source.sourceId}
          onChange={(value) =>
            value && onChange({ ...variable, source: { ...source, sourceId: value, metricDataType: undefined } })
          }
        />
      )}
      <Autocomplete
        label="Field"
        placeholder="ServiceName"
        data={listSuggestions([], sourceId, columns).expressions}
        limit={MAX_SUGGESTIONS}
        value={variable.expression}
        error={errors.expression}
        onChange={(expression) => onChange({ ...variable, expression })}
      />
      {!source && (
        <TagsInput
          label="List"
          placeholder={variable.options.length === 0 ? 'Press Enter to add' : ''}
          value={[...variable.options]}
          onChange={(options) => onChange({ ...variable, options })}
          className={classes.wide}
        />
      )}
      <TagsInput
        label="Default"
        placeholder={variable.defaults.length === 0 ? 'All' : ''}
        maxTags={isMulti ? MAX_VALUES : 1}
        data={[...variable.options]}
        value={[...variable.defaults]}
        onChange={(defaults) => onChange({ ...variable, defaults })}
        className={classes.wide}
      />
      <Switch
        label="Several values"
        checked={isMulti}
        onChange={(event) => {
          const next = event.currentTarget.checked;
          onChange({ ...variable, isMulti: next, defaults: next ? variable.defaults : variable.defaults.slice(0, 1) });
        }}
      />
    </div>
  );
}
