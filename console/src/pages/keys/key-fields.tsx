import { TextInput } from '@mantine/core';
import { findFieldError } from '../../api/errors.ts';
import { openapiKeyCreateConstraints } from '../../api/generated.ts';
import { ExpiryFields } from '../../parts/forms/expiry-fields.tsx';
import { RoleFields } from '../../parts/forms/role-fields.tsx';
import { IpAccessListFields } from './ip-access-list-fields.tsx';
import type { KeyDraft } from './key-draft.ts';

interface Props {
  draft: KeyDraft;
  onChange: (part: Partial<KeyDraft>) => void;
  /** The expiry of an existing key; null means never. */
  current?: string | null;
  errorAt: (field: 'roles' | 'expireAt') => string | undefined;
  error: unknown;
}

/** The settings of a key, for creating and editing it. */
export function KeyFields({ draft, onChange, current, errorAt, error }: Props) {
  return (
    <>
      <TextInput
        label="Name"
        description="What the key is used for"
        placeholder="API key"
        maxLength={openapiKeyCreateConstraints.name.maxLength}
        data-autofocus
        value={draft.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        error={findFieldError(error, 'name')}
      />
      <RoleFields
        roleIds={draft.roleIds}
        onChange={(roleIds) => onChange({ roleIds })}
        error={errorAt('roles') ?? findFieldError(error, 'assignedRoleIds')}
      />
      <ExpiryFields
        expiry={draft.expiry}
        expireAt={draft.expireAt}
        {...(current === undefined ? {} : { current })}
        onChange={onChange}
        error={errorAt('expireAt')}
      />
      <IpAccessListFields addresses={draft.addresses} onChange={(addresses) => onChange({ addresses })} error={error} />
    </>
  );
}
