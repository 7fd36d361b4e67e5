import { MultiSelect } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { instanceGetListConstraints, organizationRolePostConstraints } from '../../api/generated.ts';
import { foundServicesQuery } from '../../api/queries.ts';
import { useApi, useSession } from '../../app/context.tsx';

const DEBOUNCE_MS = 200;
const MAX_SERVICES = organizationRolePostConstraints.policies.items.properties.resources.maxItems;
/** More chosen services than this are shown as IDs. */
const MAX_NAMED = instanceGetListConstraints.id.maxItems;

interface Props {
  value: string[];
  onChange: (serviceIds: string[]) => void;
  error: string | undefined;
}

/** Services by id, found by name on the server. No choice means all services. */
export function ServiceSelect({ value, onChange, error }: Props) {
  const api = useApi();
  const { organizationId, can } = useSession();
  const [text, setText] = useState('');
  const [search] = useDebouncedValue(text.trim().slice(0, 255), DEBOUNCE_MS);
  const { data: found = [] } = useQuery({
    ...foundServicesQuery(api, organizationId, search),
    enabled: can('instanceGetList'),
    placeholderData: keepPreviousData,
  });
  const named = value.slice(0, MAX_NAMED);
  const { data: chosen = [] } = useQuery({
    queryKey: [organizationId, 'services', 'named', named],
    queryFn: ({ signal }) => api.instanceGetList({ organizationId, id: named }, { signal }),
    enabled: named.length > 0 && can('instanceGetList'),
    placeholderData: keepPreviousData,
  });
  const names = new Map([...found, ...chosen].map(({ id, name }) => [id, name]));
  return (
    <MultiSelect
      label="Services"
      placeholder={value.length === 0 ? 'All services' : ''}
      searchable
      searchValue={text}
      onSearchChange={setText}
      maxValues={MAX_SERVICES}
      data={[...new Set([...names.keys(), ...value])].map((id) => ({ value: id, label: names.get(id) ?? id }))}
      value={value}
      onChange={onChange}
      error={error}
    />
  );
}
