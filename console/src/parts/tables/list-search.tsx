import { TextInput } from '@mantine/core';
import { SearchIcon } from '../layout/icons.tsx';

interface Props {
  label: string;
  value: string;
  onChange: (text: string) => void;
  className?: string | undefined;
}

/** The search field above a list. */
export function ListSearch({ label, value, onChange, className }: Props) {
  return (
    <TextInput
      className={className}
      aria-label={label}
      placeholder={label}
      leftSection={<SearchIcon size={16} />}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
