import { Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { findFieldError, findOtherErrors } from '../../api/errors.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import {
  createDraft,
  KIND_LABELS,
  METRIC_TYPES,
  PRECISIONS,
  type Source,
  type SourceDraft,
  type SourceKind,
  toBody,
} from './source-draft.ts';

const FIELDS = [
  'name',
  'kind',
  'from.databaseName',
  'from.tableName',
  'timestampValueExpression',
  'bodyExpression',
  'implicitColumnExpression',
  'durationExpression',
  'metricTables',
];

/** Creates a source, or changes `target`. */
export function SourceDialog({ target, onClose }: { target?: Source; onClose: () => void }) {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const [draft, setDraft] = useState(() => createDraft(target));
  const save = useMutation({
    mutationFn: () => {
      const body = toBody(draft, target);
      return target ? api.updateSource({ id: target.id, body }) : api.createSource({ body });
    },
    onSuccess: async ({ name }) => {
      notifySuccess(`${target ? 'Saved' : 'Created'} source ${name}`);
      onClose();
      await queries.invalidateQueries({ queryKey: [organizationId] });
    },
  });
  const { error } = save;
  const edit = (part: Partial<SourceDraft>) => {
    save.reset();
    setDraft((before) => ({ ...before, ...part }));
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    save.mutate();
  };
  /** A field that may be empty. */
  const column = (
    member: 'timestampValueExpression' | 'bodyExpression' | 'implicitColumnExpression' | 'durationExpression',
    label: string,
    description: string,
  ) => (
    <TextInput
      label={label}
      description={description}
      spellCheck={false}
      value={draft[member]}
      onChange={(event) => edit({ [member]: event.currentTarget.value })}
      error={findFieldError(error, member)}
    />
  );
  const title = target ? `Edit source ${target.name}` : 'Create source';
  return (
    <Modal opened onClose={onClose} size="lg" title={title} closeOnClickOutside={false}>
      <form onSubmit={submit} aria-label={title}>
        <Stack gap="md">
          <TextInput
            label="Name"
            required
            data-autofocus
            value={draft.name}
            onChange={(event) => edit({ name: event.currentTarget.value })}
            error={findFieldError(error, 'name')}
          />
          <Select
            label="Kind"
            data={Object.entries(KIND_LABELS).map(([value, label]) => ({ value, label }))}
            value={draft.kind}
            allowDeselect={false}
            onChange={(kind) => edit({ kind: kind as SourceKind })}
            error={findFieldError(error, 'kind')}
          />
          <Text size="sm" c="dimmed">
            Empty fields use the names of the OpenTelemetry tables.
          </Text>
          <TextInput
            label="Database"
            description="Default: the database of Pilothouse"
            spellCheck={false}
            value={draft.databaseName}
            onChange={(event) => edit({ databaseName: event.currentTarget.value })}
            error={findFieldError(error, 'from.databaseName')}
          />
          {draft.kind === 'metric' ? (
            METRIC_TYPES.map(({ type, label }) => (
              <TextInput
                key={type}
                label={`${label} table`}
                spellCheck={false}
                value={draft.metricTables[type] ?? ''}
                onChange={(event) =>
                  edit({ metricTables: { ...draft.metricTables, [type]: event.currentTarget.value } })
                }
                error={findFieldError(error, `metricTables.${type}`)}
              />
            ))
          ) : (
            <TextInput
              label="Table"
              spellCheck={false}
              value={draft.tableName}
              onChange={(event) => edit({ tableName: event.currentTarget.value })}
              error={findFieldError(error, 'from.tableName')}
            />
          )}
          {column('timestampValueExpression', 'Time column', 'A column of type DateTime or DateTime64')}
          {draft.kind !== 'metric' && (
            <>
              {column('bodyExpression', 'Text column', 'What a search shows of a row')}
              {column('implicitColumnExpression', 'Search column', 'Where words without a field name are searched')}
            </>
          )}
          {draft.kind === 'trace' && (
            <>
              {column('durationExpression', 'Duration column', 'The duration of a span')}
              <Select
                label="Unit of the duration"
                placeholder="Nanoseconds"
                clearable
                data={PRECISIONS.map(({ value, label }) => ({ value: String(value), label }))}
                value={draft.durationPrecision === undefined ? null : String(draft.durationPrecision)}
                onChange={(value) =>
                  edit({ durationPrecision: PRECISIONS.find((one) => String(one.value) === value)?.value })
                }
              />
            </>
          )}
          <FormEnd
            error={findOtherErrors(error, FIELDS)}
            submit={target ? 'Save changes' : 'Create source'}
            isPending={save.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}
