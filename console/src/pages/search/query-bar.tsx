import { Button, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type RefObject, useState } from 'react';
import { useApi, useSession } from '../../app/context.tsx';
import { RangePicker } from '../dashboards/time-window/range-picker.tsx';
import { LanguageControl } from '../dashboards/where/language-control.tsx';
import { columnsQuery, listSuggestions, type Source } from '../dashboards/where/suggestions.ts';
import { WhereField } from '../dashboards/where/where-field.tsx';
import { toSeries } from './columns.ts';
import classes from './search.module.css';
import type { SearchState } from './use-search-state.ts';

interface Props {
  state: SearchState;
  sources: readonly Source[];
  inputRef: RefObject<HTMLInputElement | null>;
  error: string | undefined;
}

const TRACE_EXAMPLE = 'StatusCode:"Error" -ServiceName:"gateway"';

/** Source, query, time range. The query is sent with Enter. */
export function QueryBar({ state, sources, inputRef, error }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const { search, source, window, change, reload } = state;
  const [where, setWhere] = useState(search.where ?? '');
  const [language, setLanguage] = useState<'lucene' | 'sql'>(search.lang ?? 'lucene');
  const series = toSeries(source.id, where, language);
  const { data: columns } = useQuery(columnsQuery(api, organizationId, series, window));
  const { expressions } = listSuggestions([], source.id, columns);
  const isChanged = where !== (search.where ?? '') || language !== (search.lang ?? 'lucene');
  const send = () => {
    if (!isChanged) reload();
    change({ where: where.trim() === '' ? undefined : where, lang: language === 'sql' ? 'sql' : undefined }, isChanged);
  };
  return (
    <form
      className={classes.bar}
      aria-label="Search"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Select
        aria-label="Source"
        w={170}
        allowDeselect={false}
        comboboxProps={{ keepMounted: false }}
        value={source.id}
        data={sources.map(({ id, name }) => ({ value: id, label: name }))}
        onChange={(value) =>
          value && change({ source: value, columns: undefined, filters: undefined, row: undefined, saved: undefined })
        }
      />
      <div className={classes.where}>
        <WhereField
          series={series}
          expressions={expressions}
          window={window}
          error={error}
          hiddenLabel="Query"
          {...(source.kind === 'trace' ? { example: TRACE_EXAMPLE } : {})}
          inputRef={inputRef}
          onChange={setWhere}
        />
      </div>
      <LanguageControl label="Language of the query" value={language} onChange={setLanguage} />
      <RangePicker
        search={search}
        range={window}
        zone={window.zone}
        onChange={(part) =>
          change({
            last: undefined,
            from: undefined,
            to: undefined,
            ...part,
            ...('from' in part ? { live: undefined } : {}),
          })
        }
      />
      <Button type="submit">{isChanged ? 'Search' : 'Refresh'}</Button>
    </form>
  );
}
