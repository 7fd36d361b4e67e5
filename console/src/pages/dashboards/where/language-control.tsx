import { SegmentedControl } from '@mantine/core';

type Language = 'lucene' | 'sql';

export const LANGUAGES = [
  { value: 'lucene', label: 'Lucene' },
  { value: 'sql', label: 'SQL' },
];

interface Props {
  label: string;
  value: Language;
  onChange: (language: Language) => void;
}

export const LanguageControl = ({ label, value, onChange }: Props) => (
  <SegmentedControl
    size="sm"
    aria-label={label}
    data={LANGUAGES}
    value={value}
    onChange={(language) => onChange(language as Language)}
  />
);
