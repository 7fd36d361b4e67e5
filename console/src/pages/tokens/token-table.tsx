import { Text } from '@mantine/core';
import type { Token } from '../../api/types.ts';
import { Timestamp, useNow } from '../../parts/format/timestamp.tsx';
import { ActionsMenu, createActionsColumn } from '../../parts/forms/actions-menu.tsx';
import { isExpiringSoon } from '../../parts/key-state.ts';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import { ACCESS_LABELS } from './token-draft.ts';
import classes from './tokens.module.css';

export type TokenAction = 'edit' | 'delete';
type OnAction = (token: Token, action: TokenAction) => void;

export function TokenTable({ tokens, onAction }: { tokens: Token[] | undefined; onAction?: OnAction }) {
  const now = useNow();
  return (
    <DataTable
      label="Dashboard tokens"
      columns={createColumns(now, onAction)}
      rows={tokens}
      rowKey={({ id }) => id}
      loadingRows={3}
    />
  );
}

function createColumns(now: Date, onAction: OnAction | undefined): Column<Token>[] {
  const columns: Column<Token>[] = [
    {
      header: 'Name',
      cell: (token) => (
        <>
          <span className={classes.name}>{token.name}</span>
          <Text size="xs" c="dimmed" component="div">
            <span className={classes.suffix}>…{token.tokenSuffix}</span>
            <span className={classes.onPhone}>
              {token.usedAt ? (
                <>
                  Last used <Timestamp at={token.usedAt} show="ago" />
                </>
              ) : (
                'Never used'
              )}
            </span>
            {token.expireAt !== null && (
              <span className={classes.onPhone}>
                <ExpiryText expireAt={token.expireAt} now={now} verb="Expires" />
              </span>
            )}
          </Text>
        </>
      ),
    },
    { header: 'Access', cell: ({ access }) => ACCESS_LABELS[access] },
    {
      header: 'Last used',
      cell: ({ usedAt }) => (usedAt ? <Timestamp at={usedAt} show="ago" /> : 'Never'),
      from: 'sm',
    },
    { header: 'Created', cell: ({ createdAt }) => <Timestamp at={createdAt} show="date" />, from: 'lg' },
    {
      header: 'Expires',
      from: 'sm',
      cell: ({ expireAt }) => (expireAt === null ? 'Never' : <ExpiryText expireAt={expireAt} now={now} />),
    },
  ];
  if (onAction)
    columns.push(
      createActionsColumn((token) => (
        <ActionsMenu
          subject={`${token.name} (…${token.tokenSuffix})`}
          actions={[{ name: 'Edit', onClick: () => onAction(token, 'edit') }]}
          onDelete={() => onAction(token, 'delete')}
        />
      )),
    );
  return columns;
}

function ExpiryText({ expireAt, now, verb = '' }: { expireAt: string; now: Date; verb?: string }) {
  const isExpired = Date.parse(expireAt) <= now.getTime();
  return (
    <span className={classes.expiry} data-state={isExpired ? 'expired' : isExpiringSoon(expireAt, now) ? 'soon' : ''}>
      {isExpired ? 'Expired' : verb} <Timestamp at={expireAt} show="date" />
    </span>
  );
}
