import { Badge, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { findFieldError, findOtherErrors } from '../../api/errors.ts';
import { createDashboardLinkConstraints } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { Timestamp, useNow } from '../../parts/format/timestamp.tsx';
import { CopyTextButton } from '../../parts/forms/copy-button.tsx';
import { SavedConfirmation } from '../../parts/forms/saved-confirmation.tsx';
import { SecretDialog } from '../../parts/forms/secret-dialog.tsx';
import { SecretValues } from '../../parts/forms/secret-values.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { type Dashboard, linksQuery } from './queries.ts';

const EXPIRIES = [
  { value: '1', label: '1 hour' },
  { value: '24', label: '1 day' },
  { value: '168', label: '7 days' },
  { value: '720', label: '30 days' },
  { value: String(createDashboardLinkConstraints.expireInHours.maximum), label: '90 days' },
];
const DEFAULT_EXPIRY = '168';

/** The read-only links to a dashboard. The URL of a new one is shown once; until then the dialog closes only by its button. */
export default function LinksDialog({ dashboard, onClose }: { dashboard: Dashboard; onClose: () => void }) {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [hours, setHours] = useState(DEFAULT_EXPIRY);
  const query = linksQuery(api, organizationId, dashboard.id);
  const { data: links, error, refetch } = useQuery(query);
  const refresh = () => queries.invalidateQueries({ queryKey: query.queryKey });
  const create = useMutation({
    mutationFn: () => {
      const body = { ...(name.trim() === '' ? {} : { name: name.trim() }), expireInHours: Number(hours) };
      return api.createDashboardLink({ id: dashboard.id, body });
    },
    onSuccess: refresh,
  });
  const revoke = useMutation({
    mutationFn: (linkId: string) => api.deleteDashboardLink({ id: dashboard.id, linkId }),
    async onSuccess() {
      await refresh();
      notifySuccess('Revoked the link');
    },
  });
  const now = useNow();
  const created = create.data;
  const url = `${window.location.origin}${created?.path ?? ''}`;
  return (
    <SecretDialog
      title={created ? 'Link created' : 'Read-only links'}
      size="xl"
      hasSecret={created !== undefined}
      onClose={onClose}
    >
      {created ? (
        <Stack gap="md">
          <Note tone="warn">
            <Text size="sm">This link is shown only once. The server stores only a hash.</Text>
          </Note>
          <SecretValues values={[{ label: 'Link', value: url, copy: 'Copy', testId: 'link-url' }]} />
          <Group>
            <CopyTextButton value={url}>Copy link</CopyTextButton>
          </Group>
          <SavedConfirmation
            onSaved={() => {
              setName('');
              create.reset();
            }}
          />
        </Stack>
      ) : (
        <Stack gap="lg">
          <Text size="sm">
            Everyone who has a link can see this dashboard with current data, without signing in, until it expires or is
            revoked. Tiles with rows show these rows.
          </Text>
          <form
            aria-label="Create link"
            onSubmit={(event) => {
              event.preventDefault();
              create.mutate();
            }}
          >
            <Group align="flex-end" gap="sm">
              <TextInput
                label="Name"
                placeholder="link"
                maxLength={createDashboardLinkConstraints.name.maxLength}
                value={name}
                error={findFieldError(create.error, 'name')}
                onChange={(event) => setName(event.currentTarget.value)}
                style={{ flex: 1 }}
                miw={160}
              />
              <Select
                label="Expires in"
                w={130}
                allowDeselect={false}
                data={EXPIRIES}
                value={hours}
                onChange={(value) => setHours(value ?? DEFAULT_EXPIRY)}
              />
              <Button type="submit" loading={create.isPending}>
                Create link
              </Button>
            </Group>
            {create.error && (
              <Text size="sm" c="var(--ph-bad)" mt="xs" role="alert">
                {findOtherErrors(create.error, ['name'])}
              </Text>
            )}
          </form>
          {error ? (
            <ErrorNotice error={error} title="Could not load links" retry={() => void refetch()} />
          ) : links?.length === 0 ? (
            <Text size="sm" c="dimmed">
              There are no links to this dashboard.
            </Text>
          ) : (
            <DataTable
              label="Links"
              rows={links}
              rowKey={({ id }) => id}
              loadingRows={1}
              columns={[
                {
                  header: 'Name',
                  cell: (link) => (
                    <>
                      {link.name}
                      <Text size="xs" c="dimmed">
                        …{link.secretSuffix}, by {link.createdBy}
                      </Text>
                    </>
                  ),
                },
                {
                  header: 'Last used',
                  from: 'sm',
                  cell: ({ usedAt }) => (usedAt ? <Timestamp at={usedAt} show="ago" /> : 'Never'),
                },
                {
                  header: 'Expires',
                  cell: ({ expireAt }) =>
                    Date.parse(expireAt) <= now.getTime() ? (
                      <Badge color="gray" variant="light" tt="none">
                        Expired
                      </Badge>
                    ) : (
                      <Timestamp at={expireAt} />
                    ),
                },
                {
                  header: 'Actions',
                  isHeaderHidden: true,
                  align: 'right',
                  cell: (link) => (
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={`Revoke ${link.name} (…${link.secretSuffix})`}
                      loading={revoke.isPending && revoke.variables === link.id}
                      onClick={() => revoke.mutate(link.id)}
                    >
                      Revoke
                    </Button>
                  ),
                },
              ]}
            />
          )}
          {revoke.error && <ErrorNotice error={revoke.error} title="Could not revoke the link" />}
        </Stack>
      )}
    </SecretDialog>
  );
}
