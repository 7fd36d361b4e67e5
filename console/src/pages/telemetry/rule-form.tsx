import { Button, Group, NumberInput, Select, TextInput } from '@mantine/core';
import { type SubmitEvent, useState } from 'react';
import type { Rule, Signal } from './queries.ts';
import { SIGNAL_LABELS } from './words.ts';

interface Props {
  isPending: boolean;
  onAdd: (rule: Rule) => Promise<unknown>;
}

const SIGNAL_CHOICES = Object.entries(SIGNAL_LABELS).map(([value, label]) => ({ value, label }));
const EMPTY = { name: '', where: '', keep: 0 as number | string };

/** Adds a rule after the others. The server says what is wrong with it. */
export function RuleForm({ isPending, onAdd }: Props) {
  const [signal, setSignal] = useState<Signal>('logs');
  const [draft, setDraft] = useState(EMPTY);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const keepPercent = Number(draft.keep);
    const action = keepPercent > 0 ? ({ action: 'sample', keepPercent } as const) : ({ action: 'drop' } as const);
    const { name, where } = draft;
    const added = await onAdd({ name, signal, where, whereLanguage: 'lucene', enabled: true, ...action }).then(
      () => true,
      () => false,
    );
    if (added) setDraft(EMPTY);
  };
  return (
    <form onSubmit={submit} aria-label="Add rule" noValidate>
      <Group align="flex-end" gap="sm">
        <TextInput
          label="Name"
          maxLength={100}
          value={draft.name}
          onChange={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
        />
        <Select
          label="Signal"
          w={120}
          data={SIGNAL_CHOICES}
          value={signal}
          allowDeselect={false}
          onChange={(value) => setSignal(value as Signal)}
        />
        <TextInput
          label="Condition (Lucene)"
          placeholder="all records"
          maxLength={1000}
          value={draft.where}
          onChange={(event) => setDraft({ ...draft, where: event.currentTarget.value })}
        />
        <NumberInput
          label="Keep (%)"
          w={110}
          min={0}
          max={99.999}
          value={draft.keep}
          onChange={(keep) => setDraft({ ...draft, keep })}
        />
        <Button type="submit" loading={isPending} disabled={draft.name.trim() === ''}>
          Add rule
        </Button>
      </Group>
    </form>
  );
}
