import { Button, Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useSession } from '../../../app/context.tsx';
import { toSeries } from '../../search/columns.ts';
import type { Dashboard, TimeWindow } from '../queries.ts';
import type { DashboardSearch } from '../search.ts';
import { LanguageControl } from '../where/language-control.tsx';
import { columnsQuery, listSuggestions } from '../where/suggestions.ts';
import { WhereField } from '../where/where-field.tsx';
import classes from './filters.module.css';
import { listUnsupported, listVariables } from './variable.ts';
import { VariableSelect } from './variable-select.tsx';
import { changeQuery, changeValues, resolveQuery, resolveValues } from './view-filters.ts';

interface Props {
  dashboard: Dashboard;
  search: DashboardSearch;
  window: TimeWindow;
  /** Why the query cannot be applied. */
  error: string | undefined;
  onChange: (search: DashboardSearch) => void;
}

/** Variables, a query for all tiles, and the comparison with the previous period. All of it is in the URL. */
export function FilterBar({ dashboard, search, window, error, onChange }: Props) {
  const variables = listVariables(dashboard);
  const unsupported = listUnsupported(dashboard);
  const query = resolveQuery(dashboard, search);
  const { compare: _compare, ...withoutCompare } = search;
  return (
    <section className={classes.bar} aria-label="Filters">
      {variables.map((variable) => (
        <VariableSelect
          key={variable.id}
          variable={variable}
          values={resolveValues(variable, search)}
          window={window}
          onChange={(values) => onChange(changeValues(variable, search, values))}
        />
      ))}
      <QueryForm
        key={JSON.stringify(query)}
        sourceId={findCommonSource(dashboard)}
        query={query}
        window={window}
        error={error}
        onChange={(next) => onChange(changeQuery(dashboard, search, next))}
      />
      <Switch
        className={classes.compare}
        label="Compare with previous period"
        checked={search.compare === true}
        onChange={(event) => onChange(event.currentTarget.checked ? { ...search, compare: true } : withoutCompare)}
      />
      {unsupported.length > 0 && (
        <p className={classes.note} role="note">
          Not applied here, but kept for other clients: {unsupported.join(', ')}
        </p>
      )}
    </section>
  );
}

interface QueryFormProps {
  sourceId: string;
  query: ReturnType<typeof resolveQuery>;
  window: TimeWindow;
  error: string | undefined;
  onChange: (query: ReturnType<typeof resolveQuery>) => void;
}

/** Sent with Enter, as on the page Search. */
function QueryForm({ sourceId, query, window, error, onChange }: QueryFormProps) {
  const api = useApi();
  const { organizationId } = useSession();
  const [where, setWhere] = useState(query.where);
  const [language, setLanguage] = useState(query.language);
  const [isUsed, setIsUsed] = useState(false);
  const series = toSeries(sourceId, where, language);
  const { data: columns } = useQuery({ ...columnsQuery(api, organizationId, series, window), enabled: isUsed });
  const isChanged = where.trim() !== query.where.trim() || (where.trim() !== '' && language !== query.language);
  return (
    <form
      className={classes.query}
      onFocus={() => setIsUsed(true)}
      onSubmit={(event) => {
        event.preventDefault();
        onChange({ where, language });
      }}
    >
      <div className={classes.where}>
        <WhereField
          series={series}
          expressions={listSuggestions([], sourceId, columns).expressions}
          window={window}
          error={isChanged ? undefined : error}
          hiddenLabel="Query for all tiles"
          onChange={setWhere}
        />
      </div>
      <LanguageControl label="Language of the query" value={language} onChange={setLanguage} />
      {isChanged || query.where === '' ? (
        <Button type="submit" variant={isChanged ? 'filled' : 'default'} disabled={!isChanged}>
          Apply
        </Button>
      ) : (
        <Button variant="default" onClick={() => onChange({ where: '', language: query.language })}>
          Clear
        </Button>
      )}
    </form>
  );
}

/** The source of most series, for suggestions. */
function findCommonSource({ tiles }: Dashboard): string {
  const counts = new Map<string, number>();
  for (const { sourceId } of tiles.flatMap(({ series }) => series))
    if (sourceId !== undefined) counts.set(sourceId, (counts.get(sourceId) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? 'logs';
}
