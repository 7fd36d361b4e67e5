import { Input, SegmentedControl, Text, TextInput } from '@mantine/core';
import { findFieldError } from '../../api/errors.ts';
import { dashboardTokenCreateConstraints } from '../../api/generated.ts';
import type { Token } from '../../api/types.ts';
import { ExpiryFields } from '../../parts/forms/expiry-fields.tsx';
import { ACCESS_HELP, ACCESS_LABELS, type TokenDraft } from './token-draft.ts';

interface Props {
  draft: TokenDraft;
  /** The expiry of an existing token; null means never. */
  current?: string | null;
  onChange: (part: Partial<TokenDraft>) => void;
  expiryError: string | undefined;
  error: unknown;
}

/** The settings of a token, for creating and editing it. */
export function TokenFields({ draft, current, onChange, expiryError, error }: Props) {
  return (
    <>
      <TextInput
        label="Name"
        description="What the token is used for"
        placeholder="dashboard token"
        maxLength={dashboardTokenCreateConstraints.name.maxLength}
        data-autofocus
        value={draft.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        error={findFieldError(error, 'name')}
      />
      <Input.Wrapper labelElement="div" label="Access">
        <SegmentedControl
          fullWidth
          aria-label="Access"
          value={draft.access}
          data={dashboardTokenCreateConstraints.access.values.map((value) => ({ value, label: ACCESS_LABELS[value] }))}
          onChange={(access) => onChange({ access: access as Token['access'] })}
        />
        <Text size="xs" c="dimmed" mt={4}>
          {ACCESS_HELP[draft.access]}
        </Text>
      </Input.Wrapper>
      <ExpiryFields
        expiry={draft.expiry}
        expireAt={draft.expireAt}
        {...(current === undefined ? {} : { current })}
        onChange={onChange}
        error={expiryError ?? findFieldError(error, 'expireAt')}
      />
    </>
  );
}
