import {
  type Filter,
  getVariableName,
  isVariable,
  type SavedValue,
  toVariable,
  type Variable,
} from '../filters/variable.ts';
import { createId, type Draft } from './draft.ts';

/** The variables that the editor shows: those of the draft, but no filters of other clients that the console cannot apply. */
export function listEditedVariables({ filters, savedFilterValues }: Draft, stored: readonly Filter[] = []): Variable[] {
  const foreign = new Set(stored.filter((filter) => !isVariable(filter)).map(({ id }) => id));
  return filters.filter(({ id }) => !foreign.has(id)).map((filter) => toVariable(filter, savedFilterValues));
}

export function addVariable(draft: Draft, sourceId: string): Draft {
  const names = new Set(draft.filters.map(getVariableName));
  let number = draft.filters.length + 1;
  while (names.has(`variable${number}`)) number += 1;
  const variable: Variable = {
    id: createId(),
    name: `variable${number}`,
    label: '',
    expression: '',
    source: { sourceId, where: '', whereLanguage: 'lucene' },
    options: [],
    isMulti: true,
    defaults: [],
    sourceIds: [],
  };
  return { ...draft, filters: [...draft.filters, toFilter(variable)] };
}

export function changeVariable(draft: Draft, before: Variable, after: Variable): Draft {
  return {
    ...draft,
    filters: draft.filters.map((filter) => (filter.id === after.id ? toFilter(after, filter) : filter)),
    savedFilterValues: [
      ...dropSavedValues(draft, before),
      ...(after.defaults.length > 0 ? [{ type: 'variable', name: after.name, values: [...after.defaults] }] : []),
    ],
  };
}

export const removeVariable = (draft: Draft, variable: Variable): Draft => ({
  ...draft,
  filters: draft.filters.filter(({ id }) => id !== variable.id),
  savedFilterValues: dropSavedValues(draft, variable),
});

const dropSavedValues = ({ filters, savedFilterValues }: Draft, { id }: Variable): SavedValue[] => {
  const filter = filters.find((one) => one.id === id);
  return savedFilterValues.filter((saved) => !filter || toVariable(filter, [saved]).defaults.length === 0);
};

/** Keeps the members of other clients. */
function toFilter({ id, name, label, expression, source, options, isMulti }: Variable, before?: Filter): Filter {
  const {
    type: _type,
    expression: _expression,
    sourceId: _sourceId,
    sourceMetricType: _sourceMetricType,
    options: _options,
    maxSelections: _maxSelections,
    ...kept
  } = before ?? ({} as Filter);
  return {
    ...kept,
    id,
    type: source ? 'QUERY_EXPRESSION' : 'STATIC_LIST',
    name: label,
    expression,
    ...(source ? { sourceId: source.sourceId } : { options: [...options] }),
    ...(source?.metricDataType && { sourceMetricType: source.metricDataType }),
    isBroadcastEnabled: true,
    isVariableEnabled: true,
    variableName: name,
    ...(isMulti ? {} : { maxSelections: 1 }),
  };
}

/** What must be corrected before the dashboard can be saved. */
export function findVariableErrors(
  variable: Variable,
  all: readonly Variable[],
): { name?: string; expression?: string } {
  const isTaken = all.some(({ id, name }) => id !== variable.id && name === variable.name);
  return {
    ...(!/^[A-Za-z_]\w*$/.test(variable.name)
      ? { name: 'Use letters, digits and _' }
      : isTaken && { name: 'Another variable has this name' }),
    ...(variable.expression.trim() === '' && { expression: 'Choose the field that is filtered' }),
  };
}

/** A name for a label, for the URL. */
export const toVariableName = (label: string): string =>
  label
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .replace(/^(?=\d)/, '_');
