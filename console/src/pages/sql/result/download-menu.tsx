import { Button, Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useApi, useSession } from '../../../app/context.tsx';
import { guardFile, type Separator } from '../../../parts/format/csv-guard.ts';
import { saveFile } from '../../../parts/forms/save-file.ts';
import { DownloadIcon } from '../../../parts/layout/icons.tsx';
import { notifyError } from '../../../parts/messages/notifications.ts';
import type { Run } from '../use-runs.ts';

const FORMATS = {
  csv: { label: 'CSV', type: 'text/csv' },
  tsv: { label: 'TSV', type: 'text/tab-separated-values' },
  parquet: { label: 'Parquet', type: 'application/vnd.apache.parquet' },
  json: { label: 'JSON', type: 'application/json' },
};
type Format = keyof typeof FORMATS;
/** Of the files that people open with a spreadsheet. The API returns them as they are. */
const SEPARATORS: Partial<Record<Format, Separator>> = { csv: ',', tsv: '\t' };

/** Downloads the whole result. The service runs the statement again, for reading only. */
export function DownloadMenu({ run, serviceId }: { run: Run; serviceId: string }) {
  const api = useApi();
  const { organizationId } = useSession();
  const download = useMutation({
    async mutationFn(format: Format) {
      const { sql, database, parameters } = run;
      const body = { sql, database, parameters, format };
      const content = (await api.sqlRead({ organizationId, serviceId, body })) as unknown as Blob;
      const { type } = FORMATS[format];
      const separator = SEPARATORS[format];
      saveFile(`result.${format}`, type, separator ? await guardFile(content, separator) : content);
    },
    onError: (error) => notifyError('Could not download the result', error),
  });
  return (
    <Menu position="bottom-end" shadow="md" width={230}>
      <Menu.Target>
        <Button
          size="xs"
          variant="default"
          leftSection={<DownloadIcon size={14} />}
          loading={download.isPending}
          disabled={run.status === 'running'}
        >
          Download
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Runs the statement again, for all rows</Menu.Label>
        {Object.entries(FORMATS).map(([format, { label }]) => (
          <Menu.Item key={format} onClick={() => download.mutate(format as Format)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
