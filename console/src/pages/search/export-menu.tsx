import { Button, Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { exportSearchConstraints } from '../../api/generated.ts';
import { useApi } from '../../app/context.tsx';
import { formatNumber } from '../../parts/format/format.ts';
import { saveFile } from '../../parts/forms/save-file.ts';
import { DownloadIcon } from '../../parts/layout/icons.tsx';
import { notifyError } from '../../parts/messages/notifications.ts';
import { toExportSelect } from './columns.ts';
import type { SearchState } from './use-search-state.ts';

const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' };
const MAX_ROWS = exportSearchConstraints.limit.maximum;

/** Downloads the rows of the range with the shown columns. */
export function ExportMenu({ state: { source, matching, columns, window } }: { state: SearchState }) {
  const api = useApi();
  const download = useMutation({
    async mutationFn(format: keyof typeof TYPES) {
      const content = await api.exportSearch({
        body: {
          ...matching,
          startTime: new Date(window.start).toISOString(),
          endTime: new Date(window.end).toISOString(),
          select: toExportSelect(source, columns),
          format,
        },
      });
      saveFile(`${source.id}.${format}`, TYPES[format], content as Blob);
    },
    onError: (error) => notifyError('Could not export the rows', error),
  });
  return (
    <Menu position="bottom-end" shadow="md" width={230}>
      <Menu.Target>
        <Button variant="default" leftSection={<DownloadIcon size={16} />} loading={download.isPending}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>The newest {formatNumber(MAX_ROWS)} rows at most</Menu.Label>
        <Menu.Item onClick={() => download.mutate('csv')}>CSV</Menu.Item>
        <Menu.Item onClick={() => download.mutate('ndjson')}>NDJSON</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
