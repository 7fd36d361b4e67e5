import { Modal, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { findFieldError, findOtherErrors } from '../../api/errors.ts';
import { silenceAlertConstraints } from '../../api/generated.ts';
import { FormEnd } from '../../parts/forms/form-end.tsx';

const HOUR_MS = 3_600_000;
const LENGTHS = [
  { value: '1', label: '1 hour' },
  { value: '4', label: '4 hours' },
  { value: '24', label: '1 day' },
];
const UNTIL = 'until';

interface Props {
  name: string;
  onSilence: (until: string, reason: string) => Promise<void>;
  onClose: () => void;
}

/** For how long an alert sends nothing, and why. */
export function SilenceDialog({ name, onSilence, onClose }: Props) {
  const [length, setLength] = useState('1');
  const [time, setTime] = useState('');
  const [reason, setReason] = useState('');
  const save = useMutation({
    mutationFn: () => onSilence(length === UNTIL ? toIso(time) : toEnd(Number(length)), reason.trim()),
    onSuccess: onClose,
  });
  const edit = <T,>(set: (value: T) => void) => {
    return (value: T) => {
      save.reset();
      set(value);
    };
  };
  return (
    <Modal opened onClose={onClose} title={`Silence ${name}`} centered>
      <form
        aria-label="Silence"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap="md">
          <Text size="sm" c="dimmed">
            Nothing is sent until then. The alert is still evaluated. Alerts that are still firing afterwards are sent.
          </Text>
          <Radio.Group label="For" value={length} onChange={edit(setLength)}>
            <Stack gap={6} mt={4}>
              {LENGTHS.map((one) => (
                <Radio key={one.value} {...one} />
              ))}
              <Radio value={UNTIL} label="Until a time" />
            </Stack>
          </Radio.Group>
          {length === UNTIL && (
            <TextInput
              type="datetime-local"
              label="Until"
              description="In your time zone"
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              value={time}
              error={findFieldError(save.error, 'until')}
              onChange={(event) => edit(setTime)(event.currentTarget.value)}
            />
          )}
          <TextInput
            label="Reason"
            description="In the audit log, and shown to others"
            placeholder="Planned maintenance"
            maxLength={silenceAlertConstraints.reason.maxLength}
            data-autofocus
            value={reason}
            error={findFieldError(save.error, 'reason')}
            onChange={(event) => edit(setReason)(event.currentTarget.value)}
          />
          <FormEnd
            error={findOtherErrors(save.error, length === UNTIL ? ['until', 'reason'] : ['reason'])}
            submit="Silence"
            isPending={save.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}

const toEnd = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();

/** The value of a `datetime-local` field, in the local time zone. An empty one is sent as it is: the server names the rule. */
const toIso = (time: string): string => {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? time : at.toISOString();
};
