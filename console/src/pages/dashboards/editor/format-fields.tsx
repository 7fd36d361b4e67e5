import { NumberInput, Select, TextInput } from '@mantine/core';
import { resolveNumberFormat } from '../number-format.ts';
import type { Series } from '../queries.ts';
import classes from './editor.module.css';

const OUTPUTS = [
  { value: 'number', label: 'Number' },
  { value: 'percent', label: 'Percent (0–1)' },
  { value: 'byte', label: 'Bytes' },
  { value: 'time', label: 'Duration (seconds)' },
  { value: 'currency', label: 'Currency' },
];

interface Props {
  series: readonly Series[];
  onChange: (series: Series[]) => void;
}

/** Number format of a tile. Stored in its first series. */
export function FormatFields({ series, onChange }: Props) {
  const format = resolveNumberFormat(series);
  const change = (part: Record<string, unknown>) => {
    const stored = series.find(({ numberFormat }) => numberFormat !== undefined)?.numberFormat ?? {};
    const merged = Object.fromEntries(
      Object.entries({ ...stored, ...part }).filter(([, value]) => value !== undefined && value !== ''),
    );
    const isDefault =
      Object.keys(merged).length === 0 || (merged.output === 'number' && Object.keys(merged).length === 1);
    onChange(
      series.map(({ numberFormat: _numberFormat, ...one }, index) =>
        index === 0 && !isDefault ? { ...one, numberFormat: merged } : one,
      ),
    );
  };
  const asNumber = (value: string | number) => (typeof value === 'number' ? value : undefined);
  return (
    <div className={classes.compactFields}>
      <Select
        label="Number format"
        allowDeselect={false}
        data={OUTPUTS}
        value={OUTPUTS.some(({ value }) => value === format.output) ? (format.output ?? 'number') : 'number'}
        onChange={(output) => change({ output })}
      />
      <NumberInput
        label="Decimals"
        min={0}
        max={12}
        allowDecimal={false}
        placeholder="Auto"
        value={format.mantissa ?? ''}
        onChange={(value) => change({ mantissa: asNumber(value) })}
      />
      <NumberInput
        label="Multiply by"
        placeholder="1"
        value={format.factor ?? ''}
        onChange={(value) => change({ factor: asNumber(value) })}
      />
      {format.output === 'currency' ? (
        <TextInput
          label="Currency symbol"
          placeholder="$"
          value={format.currencySymbol ?? ''}
          onChange={(event) => change({ currencySymbol: event.currentTarget.value })}
        />
      ) : (
        <TextInput
          label="Unit"
          placeholder="ms"
          value={format.unit ?? ''}
          onChange={(event) => change({ unit: event.currentTarget.value })}
        />
      )}
    </div>
  );
}
