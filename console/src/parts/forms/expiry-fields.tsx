import { Group, Select, TextInput } from '@mantine/core';
import { formatTime } from '../format/format.ts';
import { EXPIRIES, type Expiry } from './expiry.ts';

interface Props {
  expiry: Expiry;
  expireAt: string;
  /** The current expiry of an existing key or token; null means never. */
  current?: string | null;
  onChange: (part: { expiry?: Expiry; expireAt?: string }) => void;
  error: string | undefined;
}

export function ExpiryFields({ expiry, expireAt, current, onChange, error }: Props) {
  const kept = current === null ? 'never' : current && formatTime(new Date(current));
  return (
    <Group gap="md" align="flex-start" grow preventGrowOverflow={false}>
      <Select
        label="Expires"
        data={[...(kept === undefined ? [] : [{ value: 'keep', label: `No change (${kept})` }]), ...EXPIRIES]}
        allowDeselect={false}
        value={expiry}
        onChange={(value) => onChange({ expiry: (value ?? 'never') as Expiry })}
        error={expiry === 'at' ? undefined : error}
      />
      {expiry === 'at' && (
        <TextInput
          type="datetime-local"
          label="Expires at"
          description="In your time zone"
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={expireAt}
          onChange={(event) => onChange({ expireAt: event.currentTarget.value })}
          error={error}
        />
      )}
    </Group>
  );
}
