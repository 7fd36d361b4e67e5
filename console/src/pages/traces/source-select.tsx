import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { sourcesQuery } from '../../api/queries.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { DEFAULT_SOURCE } from './queries.ts';

/** The source of the spans, if there are several. */
export function SourceSelect({
  value = DEFAULT_SOURCE,
  onChange,
}: {
  value: string | undefined;
  onChange: (source: string | undefined) => void;
}) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data = [] } = useQuery(sourcesQuery(api, organizationId));
  const sources = data.filter(({ kind, disabled }) => kind === 'trace' && !disabled);
  const isListed = sources.some(({ id }) => id === value);
  if (sources.length < 2 && (isListed || sources.length === 0)) return null;
  return (
    <Select
      aria-label="Source"
      w={190}
      allowDeselect={false}
      comboboxProps={{ keepMounted: false }}
      value={value}
      data={[
        ...sources.map(({ id, name }) => ({ value: id, label: name })),
        ...(isListed ? [] : [{ value, label: value }]),
      ]}
      onChange={(source) => onChange(source === null || source === DEFAULT_SOURCE ? undefined : source)}
    />
  );
}
