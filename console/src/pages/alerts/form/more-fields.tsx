import { Select, Stack, Textarea, TextInput } from '@mantine/core';
import { NameValueFields } from '../../../parts/forms/name-values.tsx';
import classes from '../alerts.module.css';
import type { AlertDraft } from './alert-draft.ts';
import { QuietHoursFields } from './quiet-hours-fields.tsx';
import { MinutesInput } from './rule-fields.tsx';
import type { FieldsProps } from './watch-fields.tsx';

const NO_DATA_LABELS: Readonly<Record<AlertDraft['noDataBehavior'], string>> = {
  no_data: 'Set the state No data and send it',
  alert: 'Fire',
  ok: 'OK',
  keep: 'Keep the state',
};
const ERROR_LABELS: Readonly<Record<AlertDraft['errorBehavior'], string>> = {
  error: 'Set the state Failed and send it',
  alert: 'Fire',
  ok: 'OK',
  keep: 'Keep the state',
};
const toData = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

/** Texts of the messages, and what people need to know. */
export function MessageFields({ draft, errorAt, onChange }: FieldsProps) {
  return (
    <Stack gap="md">
      <TextInput
        label="Name"
        description="Default: the name of what it watches. A Handlebars template, such as Errors of {{attributes.ServiceName}}"
        value={draft.name}
        error={errorAt('name')}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <Textarea
        label="Message"
        description="A Handlebars template with alert, attributes, group, value, threshold, labels, startTime, endTime and link"
        placeholder="{{value}} errors in {{attributes.ServiceName}}. {{link}}"
        autosize
        minRows={2}
        maxRows={10}
        value={draft.message}
        error={errorAt('message')}
        onChange={(event) => onChange({ message: event.currentTarget.value })}
      />
      <div className={classes.fields}>
        <TextInput
          label="Owner"
          description="The person or team that takes care of it"
          value={draft.owner}
          error={errorAt('owner')}
          onChange={(event) => onChange({ owner: event.currentTarget.value })}
        />
        <TextInput
          label="Runbook"
          description="A link in each message"
          placeholder="https://…"
          spellCheck={false}
          value={draft.runbookUrl}
          error={errorAt('runbookUrl')}
          onChange={(event) => onChange({ runbookUrl: event.currentTarget.value })}
        />
      </div>
      <Textarea
        label="Note"
        description="Shown on the page of the alert, not sent"
        autosize
        minRows={2}
        maxRows={10}
        value={draft.note}
        error={errorAt('note')}
        onChange={(event) => onChange({ note: event.currentTarget.value })}
      />
      <NameValueFields
        label="Labels"
        description="Sent with each message"
        item="label"
        placeholder={{ name: 'team', value: 'shop' }}
        values={draft.labels}
        error={errorAt('labels')}
        onChange={(labels) => onChange({ labels })}
      />
    </Stack>
  );
}

/** What rarely changes. */
export function SpecialFields(props: FieldsProps) {
  const { draft, errorAt, onChange } = props;
  return (
    <Stack gap="md">
      <div className={classes.fields}>
        <Select
          label="Without a value"
          description="A count without rows is 0, which is a value."
          data={toData(NO_DATA_LABELS)}
          allowDeselect={false}
          value={draft.noDataBehavior}
          error={errorAt('noDataBehavior')}
          onChange={(value) => onChange({ noDataBehavior: value as AlertDraft['noDataBehavior'] })}
        />
        <Select
          label="If it cannot be evaluated"
          description="It is tried again every minute."
          data={toData(ERROR_LABELS)}
          allowDeselect={false}
          value={draft.errorBehavior}
          error={errorAt('errorBehavior')}
          onChange={(value) => onChange({ errorBehavior: value as AlertDraft['errorBehavior'] })}
        />
        <MinutesInput
          label="Wait for late data (seconds)"
          description="After the end of a window"
          placeholder="15"
          value={draft.evaluationDelaySeconds}
          error={errorAt('evaluationDelaySeconds')}
          onChange={(evaluationDelaySeconds) => onChange({ evaluationDelaySeconds })}
        />
        <MinutesInput
          label="Move windows by (minutes)"
          description="Less than the length of a window. By default, windows are aligned with UTC."
          placeholder="0"
          value={draft.scheduleOffsetMinutes}
          error={errorAt('scheduleOffsetMinutes')}
          onChange={(scheduleOffsetMinutes) => onChange({ scheduleOffsetMinutes })}
        />
        <TextInput
          type="datetime-local"
          label="First window starts at"
          description="In the time zone of this browser; an alternative to moving windows"
          value={draft.scheduleStartAt}
          error={errorAt('scheduleStartAt')}
          onChange={(event) => onChange({ scheduleStartAt: event.currentTarget.value })}
        />
      </div>
      <QuietHoursFields {...props} />
    </Stack>
  );
}
