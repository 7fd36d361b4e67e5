import { Combobox, TextInput, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useApi, useSession } from '../../../app/context.tsx';
import { type Series, type TimeWindow, tileRequests } from '../queries.ts';
import { toLuceneName, toSqlName } from './suggestions.ts';

interface Props {
  series: Series;
  expressions: readonly string[];
  window: TimeWindow;
  error: string | undefined;
  onChange: (where: string) => void;
}

const MAX_SUGGESTIONS = 12;

/** Offers columns while a name is written, and the most frequent values behind a colon. */
export function WhereField({ series, expressions, window, error, onChange }: Props) {
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
  const acceptSuggestion = (offer: string) => {
    onChange(
      column !== undefined
        ? `${where.slice(0, where.length - quote.length - typed.length)}"${offer.replaceAll('"', '\\"')}" `
        : `${where.slice(0, where.length - (word ?? '').length)}${offer}${isLucene ? ':' : ' '}`,
    );
    combobox.updateSelectedOptionIndex();
  };
  return (
    <Combobox store={combobox} onOptionSubmit={acceptSuggestion} withinPortal>
      <Combobox.Target withExpandedAttribute>
        <TextInput
          label="Where"
          placeholder={isLucene ? 'SeverityText:"ERROR" -ServiceName:"gateway"' : "SeverityText = 'ERROR'"}
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
        <Combobox.Options aria-label="Offers" mah={220} style={{ overflowY: 'auto' }}>
          {suggestions.slice(0, MAX_SUGGESTIONS).map((offer) => (
            <Combobox.Option key={offer} value={offer}>
              {offer}
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

/** The name that is being written, empty where one may begin; undefined behind and within a quoted value. */
function findPartialName(where: string): string | undefined {
  if (where.split('"').length % 2 === 0) return undefined;
  const [found, name = ''] = /(?:^|[\s(,=<>!+*/-])([A-Za-z_][\w.[\]'-]*)?$/.exec(where) ?? [];
  return found === undefined ? undefined : name;
}

/** The values of a column in the range that is looked at, the most frequent first. Nothing where it cannot be told. */
function useColumnValues(
  { sourceId = '', metricName, metricDataType }: Series,
  column: string | undefined,
  { start, end }: TimeWindow,
): string[] {
  const api = useApi();
  const { organizationId } = useSession();
  const [settled] = useDebouncedValue(column, 250);
  const { data } = useQuery({
    queryKey: [organizationId, 'values', sourceId, metricName, settled, Math.round(start / 60_000)],
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
                  groupBy: [toSqlName(settled ?? '')],
                  ...(metricName ? { metricName } : {}),
                  ...(metricDataType ? { metricDataType } : {}),
                },
              ],
            },
          },
          { signal },
        ),
      ),
    enabled: settled !== undefined && settled === column,
    retry: false,
    gcTime: 60_000,
  });
  return [...new Set(data?.flatMap(({ group = [] }) => group[0] ?? []))].filter((value) => value !== '');
}
