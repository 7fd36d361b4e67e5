import { Button, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type SubmitEvent, useEffect, useState } from 'react';
import { ApiError, findFieldError, findOtherErrors } from '../../api/errors.ts';
import type { ConsoleSetupBody, ConsoleSetupResult } from '../../api/generated.ts';
import { useApi } from '../../app/context.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { CodeHelp } from './code-help.tsx';

type Tier = ConsoleSetupBody['tier'];

const TIERS: { value: Tier; label: string }[] = [
  { value: 'BASIC', label: 'Basic: one replica of a fixed size' },
  { value: 'SCALE', label: 'Scale: several replicas of the size you choose' },
  { value: 'ENTERPRISE', label: 'Enterprise: the same sizes as Scale' },
];

const CODE = /^#code=([\w-]+)$/;

/** The code of the link in the server's log. Never sent to the server as part of an address: it follows the #. */
const readCode = (): string => CODE.exec(window.location.hash)?.[1] ?? '';

export function SetupForm({ onCreated }: { onCreated: (created: ConsoleSetupResult) => void }) {
  const api = useApi();
  const [linkedCode] = useState(readCode);
  const [code, setCode] = useState(linkedCode);
  const [name, setName] = useState('');
  const [tier, setTier] = useState<Tier>('SCALE');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api.consoleSetup({ body: { code: code.trim(), name: name.trim(), tier } }),
    onSuccess: onCreated,
  });
  // Not kept in the history of the browser.
  useEffect(() => {
    if (linkedCode !== '') window.history.replaceState(window.history.state, '', window.location.pathname);
  }, [linkedCode]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    mutate();
  };
  const isWrongCode = error instanceof ApiError && error.status === 401;
  const otherErrors = isWrongCode ? undefined : findOtherErrors(error, ['name', 'code', 'tier']);

  return (
    <form onSubmit={submit} aria-label="Set up Pilothouse">
      <Stack gap="md">
        <TextInput
          label="Organization name"
          description="For example your company or team"
          required
          maxLength={255}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={findFieldError(error, 'name')}
        />
        <Select
          label="Tier"
          description="Decides which sizes its services may have. Can be changed in the fleet file."
          data={TIERS}
          value={tier}
          allowDeselect={false}
          onChange={(value) => setTier(value as Tier)}
          error={findFieldError(error, 'tier')}
        />
        <TextInput
          label="Setup code"
          description={linkedCode === '' ? 'Printed by the server when it started' : 'From the link'}
          autoComplete="off"
          spellCheck={false}
          autoCapitalize="none"
          required
          maxLength={255}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          error={
            isWrongCode
              ? 'This code is not valid. The server prints a new one each time it starts.'
              : findFieldError(error, 'code')
          }
        />
        {(linkedCode === '' || isWrongCode) && <CodeHelp />}
        {otherErrors !== undefined && <Note tone="bad">{otherErrors}</Note>}
        <Button type="submit" size="md" loading={isPending}>
          Create organization
        </Button>
        <Text size="sm" c="dimmed">
          You get an admin key, shown once, and a fleet file with the same organization.
        </Text>
      </Stack>
    </form>
  );
}
