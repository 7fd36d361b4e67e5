import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { findFieldError, findOtherErrors } from '../../api/errors.ts';
import { type InvitationCreateResult, invitationCreateConstraints } from '../../api/generated.ts';
import { useApi, useConfig, useDependencies, useSession } from '../../app/context.tsx';
import { CopyTextButton } from '../../parts/forms/copy-button.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { RoleFields } from '../../parts/forms/role-fields.tsx';
import { SecretDialog } from '../../parts/forms/secret-dialog.tsx';
import { Note } from '../../parts/layout/note.tsx';
import classes from './members.module.css';

const FIELDS = ['email', 'assignedRoleIds'];

/** The form, then the link. While the link is shown, the dialog closes only through its button, so that it is not lost by accident. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const { organizationId, organization } = useSession();
  const { provider } = useConfig();
  const queries = useQueryClient();
  const [email, setEmail] = useState('');
  const [roleIds, setRoleIds] = useState<string[]>();
  const invite = useMutation({
    mutationFn: () =>
      api.invitationCreate({
        organizationId,
        body: { email: email.trim(), ...(roleIds === undefined ? {} : { assignedRoleIds: roleIds }) },
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [organizationId] }),
  });
  const hasNoRole = roleIds?.length === 0;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!hasNoRole) invite.mutate();
  };
  const { data: created, error } = invite;
  const title = created ? 'Invitation created' : `Invite to ${organization.name}`;
  return (
    <SecretDialog title={title} size="md" hasSecret={created !== undefined} onClose={onClose}>
      {created ? (
        <InvitationLink created={created} onClose={onClose} />
      ) : (
        <form onSubmit={submit} aria-label="Invite member" noValidate>
          <Stack gap="md">
            <TextInput
              label="E-mail"
              description={
                provider
                  ? `Joins at the next sign-in with ${provider.host}, if the provider has verified this address`
                  : 'The person joins with a link that works once'
              }
              type="email"
              maxLength={invitationCreateConstraints.email.maxLength}
              data-autofocus
              value={email}
              onChange={(event) => {
                invite.reset();
                setEmail(event.currentTarget.value);
              }}
              error={findFieldError(error, 'email')}
            />
            <RoleFields
              roleIds={roleIds}
              onChange={(ids) => {
                invite.reset();
                setRoleIds(ids);
              }}
              error={hasNoRole ? 'Select at least one role' : findFieldError(error, 'assignedRoleIds')}
            />
            <FormEnd
              error={findOtherErrors(error, FIELDS)}
              submit="Invite"
              isPending={invite.isPending}
              onCancel={onClose}
            />
          </Stack>
        </form>
      )}
    </SecretDialog>
  );
}

const MAIL_TEXTS = {
  sent: 'It was sent to this address.',
  failed: 'It could not be sent by mail. Send it to the person yourself.',
  off: 'Send it to the person yourself: this server sends no mail.',
};

function InvitationLink({ created, onClose }: { created: InvitationCreateResult; onClose: () => void }) {
  const { base } = useDependencies();
  const { email, path = '', mail = 'off' } = created;
  const link = `${window.location.origin}${base}${path}`;
  return (
    <Stack gap="md">
      <Note tone="warn">
        <Text size="sm">
          The link for <b>{email}</b> is shown only once and works once. {MAIL_TEXTS[mail]}
        </Text>
      </Note>
      <code className={classes.link} data-testid="invitation-link">
        {link}
      </code>
      <Group justify="space-between">
        <CopyTextButton value={link}>Copy link</CopyTextButton>
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
