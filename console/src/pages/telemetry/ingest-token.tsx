import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { findFieldError, formatError } from '../../api/errors.ts';
import { type DashboardTokenCreateResult, dashboardTokenCreateConstraints } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { CopyTextButton } from '../../parts/forms/copy-button.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { useTokenRefresh } from '../tokens/use-token-form.ts';
import classes from './telemetry.module.css';

export type CreatedToken = DashboardTokenCreateResult;

interface Props {
  created: CreatedToken | undefined;
  /** Undefined hides the token. */
  onCreated: (created: CreatedToken | undefined) => void;
}

/** Creates a token that can send telemetry and nothing else, and shows it once. */
export function IngestToken({ created, onCreated }: Props) {
  const { can } = useSession();
  if (created) return <NewToken created={created} onHide={() => onCreated(undefined)} />;
  if (!can('dashboardTokenCreate'))
    return (
      <Text size="sm" c="dimmed">
        Ask an administrator for a token with the access “Send telemetry”.
      </Text>
    );
  return <TokenForm onCreated={onCreated} />;
}

function TokenForm({ onCreated }: { onCreated: (created: CreatedToken) => void }) {
  const api = useApi();
  const { organizationId } = useSession();
  const refresh = useTokenRefresh();
  const [name, setName] = useState('');
  const create = useMutation({
    mutationFn: () =>
      api.dashboardTokenCreate({ organizationId, body: { name: name.trim() || 'telemetry', access: 'ingest' } }),
    onSuccess(created) {
      refresh();
      onCreated(created);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!create.isPending) create.mutate();
  };
  const fieldError = findFieldError(create.error, 'name');
  return (
    <form onSubmit={submit} aria-label="Create ingest token" noValidate>
      <Stack gap="xs">
        <div className={classes.form}>
          <TextInput
            label="Name of the token"
            placeholder="telemetry"
            maxLength={dashboardTokenCreateConstraints.name.maxLength}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fieldError}
          />
          <Button type="submit" loading={create.isPending}>
            Create ingest token
          </Button>
        </div>
        <Text size="xs" c="dimmed">
          It can send telemetry and nothing else. It does not expire; you can set an expiry or delete it on the page
          Tokens.
        </Text>
        {create.error && fieldError === undefined && (
          <Note tone="bad" title="Could not create the token">
            <Text size="sm">{formatError(create.error)}</Text>
          </Note>
        )}
      </Stack>
    </form>
  );
}

function NewToken({ created, onHide }: { created: CreatedToken; onHide: () => void }) {
  return (
    <Stack gap="sm">
      <Note tone="warn" title={`Token ${created.dashboardToken.name} created`}>
        <Text size="sm">It is shown only once. The server stores only a hash.</Text>
      </Note>
      <div className={classes.command}>
        <code className={classes.key} data-testid="ingest-token">
          {created.token}
        </code>
      </div>
      <Group gap="xs">
        <CopyTextButton value={created.token ?? ''}>Copy token</CopyTextButton>
        <Button variant="subtle" onClick={onHide}>
          Hide token
        </Button>
      </Group>
    </Stack>
  );
}
