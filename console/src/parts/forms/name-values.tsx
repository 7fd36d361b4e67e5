import { ActionIcon, Button, Group, Input, Stack, TextInput } from '@mantine/core';
import { PlusIcon, TrashIcon } from '../layout/icons.tsx';

export interface NameValue {
  /** For React. */
  key: string;
  name: string;
  value: string;
}

interface Props {
  label: string;
  description?: string;
  /** "header": names the fields and buttons. */
  item: string;
  values: readonly NameValue[];
  error?: string | undefined;
  placeholder?: { name: string; value: string };
  /** The values are not shown while they are typed. */
  isSecret?: boolean;
  onChange: (values: NameValue[]) => void;
}

let keys = 0;
export const createNameValue = (name = '', value = ''): NameValue => {
  keys += 1;
  return { key: String(keys), name, value };
};

/** A list of names with values. Rows without a name and value are left out. */
export const toRecord = (values: readonly NameValue[]): Record<string, string> =>
  Object.fromEntries(
    values.filter(({ name, value }) => name !== '' || value !== '').map(({ name, value }) => [name, value]),
  );

export function NameValueFields(props: Props) {
  const { label, description, item, values, error, placeholder, isSecret = false, onChange } = props;
  const change = (key: string, part: Partial<NameValue>) =>
    onChange(values.map((one) => (one.key === key ? { ...one, ...part } : one)));
  return (
    <Input.Wrapper label={label} description={description} error={error} labelElement="div">
      <Stack gap={6} mt={6}>
        {values.map(({ key, name, value }, index) => (
          <Group key={key} gap={6} wrap="nowrap" align="flex-start">
            <TextInput
              aria-label={`Name of ${item} ${index + 1}`}
              placeholder={placeholder?.name ?? 'Name'}
              spellCheck={false}
              flex={2}
              value={name}
              onChange={(event) => change(key, { name: event.currentTarget.value })}
            />
            <TextInput
              aria-label={`Value of ${item} ${index + 1}`}
              placeholder={placeholder?.value ?? 'Value'}
              type={isSecret ? 'password' : 'text'}
              autoComplete="off"
              spellCheck={false}
              flex={3}
              value={value}
              onChange={(event) => change(key, { value: event.currentTarget.value })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              size={36}
              aria-label={`Remove ${item} ${index + 1}`}
              onClick={() => onChange(values.filter((one) => one.key !== key))}
            >
              <TrashIcon size={15} />
            </ActionIcon>
          </Group>
        ))}
        <Group>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<PlusIcon size={14} />}
            onClick={() => onChange([...values, createNameValue()])}
          >
            Add {item}
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  );
}
