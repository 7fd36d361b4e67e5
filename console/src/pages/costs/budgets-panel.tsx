import { ActionIcon, Button, Menu, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useSession } from '../../app/context.tsx';
import { Confirm } from '../../parts/confirm-dialog.tsx';
import { Credits } from '../../parts/credits.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { EmptyNote } from '../../parts/empty-state.tsx';
import { Failure } from '../../parts/error-notice.tsx';
import { DotsIcon, PlusIcon } from '../../parts/icons.tsx';
import { Panel } from '../../parts/panel.tsx';
import { tellDone } from '../../parts/notifications.ts';
import { type Budget, budgetsQuery, thresholdText } from './budget-draft.ts';
import { BudgetForm } from './budget-form.tsx';
import classes from './costs.module.css';

type Act = 'create' | 'edit' | 'delete';

/** What is meant to be spent in a month, and whom to tell on the way there. */
export function BudgetsPanel() {
  const api = useApi();
  const { organizationId, canChangeFleet } = useSession();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(budgetsQuery(api, organizationId));
  const [chosen, setChosen] = useState<{ act: Act; budget?: Budget }>();
  const close = () => setChosen(undefined);
  const remove = async ({ id, name }: Budget) => {
    await api.budgetDelete({ organizationId, budgetId: id });
    await queries.invalidateQueries({ queryKey: budgetsQuery(api, organizationId).queryKey });
    void queries.invalidateQueries({ queryKey: [organizationId, 'activities'] });
    tellDone(`The budget ${name} is deleted`);
  };
  const create = canChangeFleet && (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<PlusIcon size={14} />}
      onClick={() => setChosen({ act: 'create' })}
    >
      New budget
    </Button>
  );
  return (
    <Panel title="Budgets" flush aside={create}>
      {error && !data ? (
        <Failure error={error} title="The budgets are missing" retry={() => refetch()} />
      ) : data?.length === 0 ? (
        <EmptyNote title="No budgets yet">A budget tells when a month gets expensive. It stops nothing.</EmptyNote>
      ) : (
        <DataTable
          label="Budgets"
          rows={data}
          rowKey={({ id }) => id}
          loadingRows={1}
          columns={columnsOf(canChangeFleet ? (budget, act) => setChosen({ budget, act }) : undefined)}
        />
      )}
      {chosen?.act === 'create' && <BudgetForm onClose={close} />}
      {chosen?.act === 'edit' && <BudgetForm of={chosen.budget} onClose={close} />}
      {chosen?.act === 'delete' && chosen.budget && (
        <Confirm
          opened
          isDangerous
          title="Delete this budget?"
          action="Delete"
          onConfirm={() => remove(chosen.budget as Budget)}
          onClose={close}
        >
          <b>{chosen.budget.name}</b> is gone with what it has told, and tells nothing more.
        </Confirm>
      )}
    </Panel>
  );
}

function columnsOf(onAct: ((budget: Budget, act: Act) => void) | undefined): Column<Budget>[] {
  const columns: Column<Budget>[] = [
    {
      header: 'Name',
      cell: ({ name, webhook }) => (
        <>
          <span className={classes.label}>{name}</span>
          {webhook && (
            <Text size="xs" c="dimmed" className={classes.label}>
              tells {originOf(webhook.url)}
            </Text>
          )}
        </>
      ),
    },
    { header: 'In a month', align: 'right', cell: ({ monthlyCHC }) => <Credits chc={monthlyCHC} /> },
    { header: 'Tells at', from: 'sm', cell: ({ thresholds }) => thresholds.map(thresholdText).join(', ') },
    { header: 'Told this month', from: 'md', cell: toldOf },
  ];
  if (onAct)
    columns.push({
      header: 'What to do',
      isHeaderHidden: true,
      align: 'right',
      width: 52,
      cell: (budget) => (
        <Menu position="bottom-end" width={150}>
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" aria-label={`What to do with the budget ${budget.name}`}>
              <DotsIcon />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => onAct(budget, 'edit')}>Edit</Menu.Item>
            <Menu.Item c="var(--ph-bad)" onClick={() => onAct(budget, 'delete')}>
              Delete
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      ),
    });
  return columns;
}

const toldOf = ({ notices }: Budget): string =>
  notices.length === 0
    ? 'nothing'
    : notices
        .map(({ threshold, delivery }) =>
          delivery === 'failed' ? `${thresholdText(threshold)} (not delivered)` : thresholdText(threshold),
        )
        .join(', ');

/** The rest of an address often is a secret. */
const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url);
