import { Alert, Button, FileButton, Group, Modal, Select, Stack, TagsInput, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError, formatError } from '../../api/errors.ts';
import { type CreateDashboardBody, createDashboardConstraints } from '../../api/generated.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { PlusIcon, WarningIcon } from '../../parts/layout/icons.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { readDashboardFile } from './files.ts';
import { UploadIcon } from './icons.tsx';
import { dashboardsQuery } from './queries.ts';

/** Creates a dashboard, empty or from a template, or imports one from a file. */
export function NewDashboard() {
  const api = useApi();
  const { organizationId } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isOpen, setIsOpen] = useState(false);
  const [name, setName] = useState('');
  const [tags, setTags] = useState<string[]>([]);
  const [templateId, setTemplateId] = useState<string | null>(null);
  const templates = useQuery({
    queryKey: ['dashboard-templates'],
    queryFn: () => api.listDashboardTemplates({}),
    enabled: isOpen,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const template = templates.data?.find(({ id }) => id === templateId);

  /** The name and tags of a template are suggestions. */
  function chooseTemplate(id: string | null): void {
    setTemplateId(id);
    const chosen = templates.data?.find((known) => known.id === id);
    if (!chosen) return;
    setName(chosen.dashboard.name);
    setTags(chosen.dashboard.tags ?? []);
  }
  const create = useMutation({
    mutationFn: (body: CreateDashboardBody) => api.createDashboard({ body }),
    async onSuccess({ id, name: createdName, tiles }) {
      await queries.invalidateQueries({ queryKey: dashboardsQuery(api, organizationId).queryKey, exact: true });
      notifySuccess(`Created dashboard ${createdName}`);
      await navigate({ to: '/dashboards/$id', params: { id }, search: tiles.length === 0 ? { edit: true } : {} });
    },
  });
  const importFile = useMutation({
    mutationFn: async (file: File) => create.mutateAsync(await readDashboardFile(file)),
  });
  return (
    <>
      <FileButton accept=".json,.yaml,.yml" onChange={(file) => file && importFile.mutate(file)}>
        {(props) => (
          <Button {...props} variant="default" leftSection={<UploadIcon />} loading={importFile.isPending}>
            Import
          </Button>
        )}
      </FileButton>
      <Button
        leftSection={<PlusIcon size={16} />}
        onClick={() => {
          create.reset();
          setIsOpen(true);
        }}
      >
        New dashboard
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setIsOpen(false)}
        title="New dashboard"
        centered
        transitionProps={{ duration: 0 }}
      >
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim() !== '') create.mutate({ name: name.trim(), tags, tiles: template?.dashboard.tiles ?? [] });
          }}
        >
          <Stack gap="md">
            <Select
              label="Start from"
              placeholder="An empty dashboard"
              description={template?.description}
              data={(templates.data ?? []).map(({ id, dashboard }) => ({ value: id, label: dashboard.name }))}
              value={templateId}
              onChange={chooseTemplate}
              clearable
            />
            <TextInput
              label="Name"
              value={name}
              maxLength={createDashboardConstraints.name.maxLength}
              data-autofocus
              onChange={(event) => setName(event.currentTarget.value)}
              error={create.error && formatError(create.error)}
            />
            <TagsInput
              label="Tags"
              value={tags}
              onChange={setTags}
              maxTags={createDashboardConstraints.tags.maxItems}
            />
            <Group justify="flex-end">
              <Button type="submit" disabled={name.trim() === ''} loading={create.isPending}>
                Create
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
      <Modal
        opened={importFile.isError}
        onClose={importFile.reset}
        title="Could not import the file"
        centered
        size="lg"
      >
        <Alert color="red" variant="light" icon={<WarningIcon />} role="alert">
          {importFile.error instanceof ApiError && importFile.error.fields.length > 0 ? (
            <ul style={{ margin: 0, paddingInlineStart: 18, overflowWrap: 'anywhere' }}>
              {importFile.error.fields.map(({ path, message }) => (
                <li key={`${path} ${message}`}>
                  <code>{path}</code>: {message.replace(`${path}: `, '')}
                </li>
              ))}
            </ul>
          ) : (
            formatError(importFile.error)
          )}
        </Alert>
      </Modal>
    </>
  );
}
