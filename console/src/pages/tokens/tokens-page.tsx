import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Token } from '../../api/types.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { useDialogInUrl } from '../../app/use-dialog-in-url.ts';
import { plural } from '../../parts/format/format.ts';
import { ConfirmDialog } from '../../parts/forms/confirm-dialog.tsx';
import { EmptyState } from '../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { PlusIcon } from '../../parts/layout/icons.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { notifySuccess } from '../../parts/messages/notifications.ts';
import { CreateTokenDialog } from './create-token-dialog.tsx';
import { EditTokenDialog } from './edit-token-dialog.tsx';
import { type TokenAction, TokenTable } from './token-table.tsx';
import { tokensQuery } from './tokens-query.ts';

/** Dashboard tokens: list, create, edit and delete. */
export function TokensPage() {
  const api = useApi();
  const { organizationId, can } = useSession();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(tokensQuery(api, organizationId));
  const [isCreating, setIsCreating] = useDialogInUrl('create');
  const [chosen, setChosen] = useState<{ token: Token; action: TokenAction }>();
  const close = () => setChosen(undefined);
  const remove = async ({ id, name, tokenSuffix }: Token) => {
    await api.dashboardTokenDelete({ organizationId, tokenId: id });
    notifySuccess(`Deleted token ${name} (…${tokenSuffix})`);
    await queries.invalidateQueries({ queryKey: [organizationId] });
  };
  const create = can('dashboardTokenCreate') && (
    <Button leftSection={<PlusIcon size={16} />} onClick={() => setIsCreating(true)}>
      Create token
    </Button>
  );
  return (
    <Page title="Dashboard tokens" subtitle={data ? plural(data.length, 'token') : 'Loading…'} actions={create}>
      {error && !data ? (
        <ErrorNotice error={error} title="Could not load tokens" retry={() => refetch()} />
      ) : (
        <Panel flush>
          {data?.length === 0 ? (
            <EmptyState title="No tokens yet" action={create}>
              A token lets a script or a wallboard use the dashboards of this organization, or lets a program send
              telemetry, and nothing else.
            </EmptyState>
          ) : (
            <TokenTable
              tokens={data}
              {...(can('dashboardTokenUpdate') ? { onAction: (token, action) => setChosen({ token, action }) } : {})}
            />
          )}
        </Panel>
      )}
      {isCreating && <CreateTokenDialog onClose={() => setIsCreating(false)} />}
      {chosen?.action === 'edit' && <EditTokenDialog target={chosen.token} onClose={close} />}
      {chosen?.action === 'delete' && (
        <ConfirmDialog
          opened
          isDangerous
          title="Delete this token?"
          action="Delete"
          onConfirm={() => remove(chosen.token)}
          onClose={close}
        >
          Requests with <b>{chosen.token.name}</b> (…{chosen.token.tokenSuffix}) are rejected immediately. This cannot
          be undone.
        </ConfirmDialog>
      )}
    </Page>
  );
}
