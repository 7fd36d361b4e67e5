import { Combobox, TextInput, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { Ref } from 'react';
import { useApi, useSession } from '../../../app/context.tsx';
import { type Series, type TimeWindow, tileRequests } from '../queries.ts';
import { toLuceneName, toSqlName } from './suggestions.ts';

interface Props {
  series: Series;
  expressions: readonly string[];
  window: TimeWindow;
  error: string | undefined;
  /** Instead of the visible label "Where". */
  hiddenLabel?: string;
  /** An example in Lucene. */
  example?: string;
  inputRef?: Ref<HTMLInputElement>;
  onChange: (where: string) => void;
}

const MAX_SUGGESTIONS = 12;
const LOG_EXAMPLE = 'SeverityText:"ERROR" -ServiceName:"gateway"';

/** Suggests columns for a name, and frequent values after a colon. */
export function WhereField({
  series,
  expressions,
  window,
  error,
  hiddenLabel,
  example = LOG_EXAMPLE,
  inputRef,
  onChange,
}: Props) {
  const combobox = useCombobox();
  const { where, whereLanguage } = series;
  const isLucene = whereLanguage === 'lucene';
  const [, column, quote = '', typed = ''] = (isLucene && /([A-Za-z][\w.-]*):("?)([^"\s]*)$/.exec(where)) || [];
  const values = useColumnValues(series, column, window);
  const word = findPartialName(where);
  const names = word === undefined ? [] : expressions.flatMap((one) => (isLucene ? (toLuceneName(one) ?? []) : one));
  const suggestions =
    column !== undefined
      ? values.filter((value) => value.toLowerCase().startsWith(typed.toLowerCase()) && value !== typed)
      : names.filter((name) => name.toLowerCase().startsWith((word ?? '').toLowerCase()) && name !== word);
  const acceptSuggestion = (suggestion: string) => {
    onChange(
      column !== undefined
        ? `${where.slice(0, where.length - quote.length - typed.length)}"${suggestion.replaceAll('"', '\\"')}" `
        : `${where.slice(0, where.length - (word ?? '').length)}${suggestion}${isLucene ? ':' : ' '}`,
    );
    combobox.updateSelectedOptionIndex();
  };
  return (
    <Combobox store={combobox} onOptionSubmit={acceptSuggestion} withinPortal>
      <Combobox.Target withExpandedAttribute>
        <TextInput
          ref={inputRef}
          {...(hiddenLabel === undefined ? { label: 'Where' } : { 'aria-label': hiddenLabel })}
          placeholder={isLucene ? example : "SeverityText = 'ERROR'"}
          value={where}
          error={error}
          spellCheck={false}
          onChange={(event) => {
            onChange(event.currentTarget.value);
            combobox.openDropdown();
          }}
          onBlur={() => combobox.closeDropdown()}
          style={{ flex: 1 }}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={suggestions.length === 0}>
        <Combobox.Options aria-label="Suggestions" mah={220} style={{ overflowY: 'auto' }}>
          {suggestions.slice(0, MAX_SUGGESTIONS).map((suggestion) => (
            <Combobox.Option key={suggestion} value={suggestion}>
              {suggestion}
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

/** The name being typed, '' where a name can start; undefined inside or after a quoted value. */
function findPartialName(where: string): string | undefined {
  if (where.split('"').length % 2 === 0) return undefined;
  const [found, name = ''] = /(?:^|[\s(,=<>!+*/-])([A-Za-z_][\w.[\]'-]*)?$/.exec(where) ?? [];
  return found === undefined ? undefined : name;
}

/** Values of a column in the time window, most frequent first. Empty on errors. */
function useColumnValues(
  { sourceId = '', metricName, metricDataType }: Series,
  column: string | undefined,
  { start, end }: TimeWindow,
): string[] {
  const api = useApi();
  const { organizationId } = useSession();
  const [debounced] = useDebouncedValue(column, 250);
  const { data } = useQuery({
    queryKey: [organizationId, 'values', sourceId, metricName, debounced, Math.round(start / 60_000)],
    queryFn: ({ signal }) =>
      tileRequests.run(signal, () =>
        api.queryChartSeries(
          {
            body: {
              startTime: start,
              endTime: end,
              granularity: '30d',
              series: [
                {
                  sourceId,
                  aggFn: 'count',
                  groupBy: [toSqlName(debounced ?? '')],
                  ...(metricName ? { metricName } : {}),
                  ...(metricDataType ? { metricDataType } : {}),
                },
              ],
            },
          },
          { signal },
        ),
      ),
    enabled: debounced !== undefined && debounced === column,
    retry: false,
    gcTime: 60_000,
  });
  return [...new Set(data?.flatMap(({ group = [] }) => group[0] ?? []))].filter((value) => value !== '');
}
