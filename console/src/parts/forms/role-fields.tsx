import { Checkbox, MultiSelect, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { rolesQuery } from '../../api/queries.ts';
import { useApi, useSession } from '../../app/context.tsx';

/** The role that the server gives to a key or member without a choice. */
const DEFAULT_ROLE = 'developer';

const ROLE_DESCRIPTIONS: Readonly<Record<string, string>> = {
  admin: 'Full access to the organization',
  developer: 'Read-only access',
  query_endpoints: 'Query endpoints only, no console access',
};

interface Props {
  /** Undefined for the default. */
  roleIds: string[] | undefined;
  onChange: (roleIds: string[]) => void;
  error: string | undefined;
  /** Roles that cannot be removed. */
  fixedIds?: readonly string[];
}

/** System roles as checkboxes; custom roles, if there are any, as a list. */
export function RoleFields({ roleIds, onChange, error, fixedIds = [] }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data: roles = [] } = useQuery(rolesQuery(api, organizationId));
  const chosen = roleIds ?? roles.filter(({ name }) => name === DEFAULT_ROLE).map(({ id }) => id);
  const system = roles.filter(({ type }) => type === 'system');
  const custom = roles.filter(({ type }) => type === 'custom');
  const isSystem = (id: string) => system.some((role) => role.id === id);
  return (
    <>
      <Checkbox.Group
        label="Roles"
        value={chosen.filter(isSystem)}
        onChange={(ids) => onChange([...ids, ...chosen.filter((id) => !isSystem(id))])}
        error={error}
      >
        <Stack gap="xs" mt={6}>
          {system.map(({ id, name }) => (
            <Checkbox
              key={id}
              value={id}
              label={name}
              description={fixedIds.includes(id) ? 'From the member rules' : ROLE_DESCRIPTIONS[name]}
              disabled={fixedIds.includes(id)}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      {custom.length > 0 && (
        <MultiSelect
          label="Custom roles"
          placeholder="Select roles"
          searchable
          data={custom.map(({ id, name }) => ({
            value: id,
            label: fixedIds.includes(id) ? `${name} (from the member rules)` : name,
          }))}
          value={chosen.filter((id) => !isSystem(id))}
          onChange={(ids) =>
            onChange([...new Set([...chosen.filter((id) => isSystem(id) || fixedIds.includes(id)), ...ids])])
          }
        />
      )}
    </>
  );
}
