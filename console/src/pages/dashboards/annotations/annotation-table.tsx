import { Anchor, Badge, Button, Group, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useApi, useSession } from '../../../app/context.tsx';
import { formatDateTime } from '../../../parts/format/times.ts';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { notifySuccess } from '../../../parts/messages/notifications.ts';
import { DataTable } from '../../../parts/tables/data-table.tsx';
import type { Annotation } from '../queries.ts';
import { formatAnnotationTime, KIND_LABELS } from './annotation-text.ts';

/** Deploys can be deleted; the others are not kept here. */
export default function AnnotationTable({ annotations, zone }: { annotations: readonly Annotation[]; zone: string }) {
  const api = useApi();
  const { organizationId, canChangeDashboards } = useSession();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: (id: string) => api.deleteAnnotation({ id }),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: [organizationId, 'tile-data', 'annotations'] });
      notifySuccess('Deleted the annotation');
    },
  });
  return (
    <>
      <DataTable
        label="Annotations"
        rows={annotations}
        rowKey={({ id }) => id}
        columns={[
          {
            header: 'Time',
            cell: (one) => <time dateTime={new Date(one.time).toISOString()}>{formatAnnotationTime(one, zone)}</time>,
          },
          { header: 'Kind', from: 'sm', cell: ({ kind }) => KIND_LABELS[kind] },
          {
            header: 'Title',
            cell: ({ title, text, link, tags }) => (
              <div style={{ overflowWrap: 'anywhere' }}>
                {link ? (
                  <Anchor inherit href={link} target="_blank" rel="noopener noreferrer" underline="always">
                    {title}
                  </Anchor>
                ) : (
                  title
                )}
                {text !== '' && (
                  <Text size="xs" c="dimmed" style={{ whiteSpace: 'pre-wrap' }}>
                    {text}
                  </Text>
                )}
                <Group gap={4}>
                  {tags.map((tag) => (
                    <Badge key={tag} size="sm" variant="default" tt="none">
                      {tag}
                    </Badge>
                  ))}
                </Group>
              </div>
            ),
          },
          { header: 'By', from: 'sm', cell: ({ createdBy }) => createdBy },
          {
            header: 'Actions',
            isHeaderHidden: true,
            align: 'right',
            cell: ({ id, kind, title, time }) =>
              canChangeDashboards &&
              kind === 'deploy' && (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`Delete ${title} at ${formatDateTime(time, zone)}`}
                  loading={remove.isPending && remove.variables === id}
                  onClick={() => remove.mutate(id)}
                >
                  Delete
                </Button>
              ),
          },
        ]}
      />
      {remove.error && <ErrorNotice error={remove.error} title="Could not delete the annotation" />}
    </>
  );
}
