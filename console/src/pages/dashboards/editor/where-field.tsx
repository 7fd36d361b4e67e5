import { Combobox, TextInput, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useApi, useSession } from '../../../app/context.tsx';
import { gate, type Series, type Window } from '../queries.ts';
import { luceneName, sqlName } from './suggestions.ts';

interface Props {
  series: Series;
  expressions: readonly string[];
  window: Window;
  error: string | undefined;
  onChange: (where: string) => void;
}

const MOST_OFFERED = 12;

/** Offers columns while a name is written, and the most frequent values behind a colon. */
export function WhereField({ series, expressions, window, error, onChange }: Props) {
  const combobox = useCombobox();
  const { where, whereLanguage } = series;
  const isLucene = whereLanguage === 'lucene';
  const [, column, quote = '', begun = ''] = (isLucene && /([A-Za-z][\w.-]*):("?)([^"\s]*)$/.exec(where)) || [];
  const values = useValues(series, column, window);
  const word = begunName(where);
  const names = word === undefined ? [] : expressions.flatMap((one) => (isLucene ? (luceneName(one) ?? []) : one));
  const offers =
    column !== undefined
      ? values.filter((value) => value.toLowerCase().startsWith(begun.toLowerCase()) && value !== begun)
      : names.filter((name) => name.toLowerCase().startsWith((word ?? '').toLowerCase()) && name !== word);
  const take = (offer: string) => {
    onChange(
      column !== undefined
        ? `${where.slice(0, where.length - quote.length - begun.length)}"${offer.replaceAll('"', '\\"')}" `
        : `${where.slice(0, where.length - (word ?? '').length)}${offer}${isLucene ? ':' : ' '}`,
    );
    combobox.updateSelectedOptionIndex();
  };
  return (
    <Combobox store={combobox} onOptionSubmit={take} withinPortal>
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
      <Combobox.Dropdown hidden={offers.length === 0}>
        <Combobox.Options aria-label="Offers" mah={220} style={{ overflowY: 'auto' }}>
          {offers.slice(0, MOST_OFFERED).map((offer) => (
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
function begunName(where: string): string | undefined {
  if (where.split('"').length % 2 === 0) return undefined;
  const [found, name = ''] = /(?:^|[\s(,=<>!+*/-])([A-Za-z_][\w.[\]'-]*)?$/.exec(where) ?? [];
  return found === undefined ? undefined : name;
}

/** The values of a column in the range that is looked at, the most frequent first. Nothing where it cannot be told. */
function useValues(
  { sourceId = '', metricName, metricDataType }: Series,
  column: string | undefined,
  { start, end }: Window,
): string[] {
  const api = useApi();
  const { organizationId } = useSession();
  const [settled] = useDebouncedValue(column, 250);
  const { data } = useQuery({
    queryKey: [organizationId, 'values', sourceId, metricName, settled, Math.round(start / 60_000)],
    queryFn: ({ signal }) =>
      gate.run(signal, () =>
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
                  groupBy: [sqlName(settled ?? '')],
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
