import { Button, Menu } from '@mantine/core';
import { useState } from 'react';
import { useApi, useSession } from '../../app/context.tsx';
import { saveFile } from '../../parts/forms/save-file.ts';
import { DownloadIcon } from '../../parts/layout/icons.tsx';
import { notifyError } from '../../parts/messages/notifications.ts';
import type { Span } from './span.ts';

/** Downloads the selected days as a file. */
export function DownloadMenu({ span: { from, to } }: { span: Span }) {
  const api = useApi();
  const { organizationId } = useSession();
  const [isBusy, setIsBusy] = useState(false);
  const download = async (format: 'csv' | 'focus') => {
    setIsBusy(true);
    try {
      const file = await api.usageCostExport({ organizationId, from_date: from, to_date: to, format });
      const name = `${format === 'focus' ? 'focus' : 'usage-cost'}-${from}-${to}.csv`;
      saveFile(name, 'text/csv', file instanceof Blob ? file : new Blob([]));
    } catch (error) {
      notifyError('Could not download the file', error);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<DownloadIcon size={16} />} loading={isBusy}>
          Download
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => download('csv')}>CSV (one row per cost record)</Menu.Item>
        <Menu.Item onClick={() => download('focus')}>FOCUS 1.2 (one row per charge)</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
