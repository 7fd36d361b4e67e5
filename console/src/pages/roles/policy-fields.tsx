import { Button, Fieldset, Group, SegmentedControl, Stack, TagsInput } from '@mantine/core';
import { findFieldError } from '../../api/errors.ts';
import { organizationRolePostConstraints } from '../../api/generated.ts';
import type { Role } from '../../api/types.ts';
import { listPermissions, type PolicyDraft, type Scope } from './role-draft.ts';
import { ServiceSelect } from './service-select.tsx';

const LIMITS = organizationRolePostConstraints.policies.items.properties;

interface Props {
  index: number;
  policy: PolicyDraft;
  roles: readonly Role[];
  onChange: (part: Partial<PolicyDraft>) => void;
  onRemove: () => void;
  error: unknown;
}

/** One policy of a role: an effect, permissions, and the services they are for. */
export function PolicyFields({ index, policy, roles, onChange, onRemove, error }: Props) {
  const errorAt = (field: string) => findFieldError(error, `policies[${index}].${field}`);
  return (
    <Fieldset legend={`Policy ${index + 1}`}>
      <Stack gap="sm">
        <Group gap="md">
          <SegmentedControl
            aria-label={`Effect of policy ${index + 1}`}
            value={policy.allowDeny}
            onChange={(allowDeny) => onChange({ allowDeny: allowDeny as PolicyDraft['allowDeny'] })}
            data={[
              { value: 'ALLOW', label: 'Allow' },
              { value: 'DENY', label: 'Deny' },
            ]}
          />
          <SegmentedControl
            aria-label={`Scope of policy ${index + 1}`}
            value={policy.scope}
            onChange={(scope) => onChange({ scope: scope as Scope, permissions: [] })}
            data={[
              { value: 'services', label: 'Services' },
              { value: 'organization', label: 'Organization' },
            ]}
          />
        </Group>
        <TagsInput
          label="Permissions"
          description="Permissions, or ids of single operations"
          placeholder="Add a permission"
          data={listPermissions(roles, policy.scope)}
          maxTags={LIMITS.permissions.maxItems}
          value={policy.permissions}
          onChange={(permissions) => onChange({ permissions })}
          error={errorAt('permissions')}
          acceptValueOnBlur
        />
        {policy.scope === 'services' && (
          <ServiceSelect
            value={policy.serviceIds}
            onChange={(serviceIds) => onChange({ serviceIds })}
            error={errorAt('resources')}
          />
        )}
        <Group justify="flex-end">
          <Button variant="subtle" size="compact-sm" color="gray" onClick={onRemove}>
            Remove policy
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}
