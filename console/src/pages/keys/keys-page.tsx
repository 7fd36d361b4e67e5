import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { keysQuery } from '../../api/queries.ts';
import type { Key } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { plural } from '../../parts/format.ts';
import { PlusIcon } from '../../parts/icons.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { EditKeyDialog } from './edit-key-dialog.tsx';
import { type KeyAction, KeyActionDialog } from './key-action-dialog.tsx';
import { KeyTable } from './key-table.tsx';
import { RotateKeyDialog } from './rotate-key-dialog.tsx';

export function KeysPage() {
  const api = useApi();
  const { organizationId, can } = useSession();
  const { data, error, refetch } = useQuery(keysQuery(api, organizationId));
  const [isCreating, setIsCreating] = useState(false);
  const [chosen, setChosen] = useState<{ target: Key; action: KeyAction }>();
  const create = can('openapiKeyCreate') && (
    <Button leftSection={<PlusIcon size={16} />} onClick={() => setIsCreating(true)}>
      Create key
    </Button>
  );
  return (
    <Page title="Keys" subtitle={data ? plural(data.length, 'API key') : 'Loading…'} actions={create}>
      {error && !data ? (
        <ErrorNotice error={error} title="Could not load keys" retry={() => refetch()} />
      ) : (
        <Panel flush>
          {data?.length === 0 ? (
            <EmptyState title="No keys yet" action={create}>
              A key lets a script or a person use the API with the roles you choose.
            </EmptyState>
          ) : (
            <KeyTable
              keys={data}
              {...(can('openapiKeyUpdate') ? { onAction: (target, action) => setChosen({ target, action }) } : {})}
            />
          )}
        </Panel>
      )}
      {isCreating && <CreateKeyDialog onClose={() => setIsCreating(false)} />}
      {chosen && <ChosenDialog {...chosen} onClose={() => setChosen(undefined)} />}
    </Page>
  );
}

function ChosenDialog({ target, action, onClose }: { target: Key; action: KeyAction; onClose: () => void }) {
  if (action === 'edit') return <EditKeyDialog target={target} onClose={onClose} />;
  if (action === 'rotate') return <RotateKeyDialog target={target} onClose={onClose} />;
  return <KeyActionDialog target={target} action={action} onClose={onClose} />;
}
