import { Button, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi, useSession } from '../../../app/context.tsx';
import { BudgetAlerts } from '../../../parts/costs/budget-alerts.tsx';
import { type Budget, budgetsQuery, formatThreshold } from '../../../parts/costs/budgets.ts';
import { Credits } from '../../../parts/costs/credits.tsx';
import { ActionsMenu, createActionsColumn } from '../../../parts/forms/actions-menu.tsx';
import { ConfirmDialog } from '../../../parts/forms/confirm-dialog.tsx';
import { EmptyState } from '../../../parts/layout/empty-state.tsx';
import { ErrorNotice } from '../../../parts/layout/error-notice.tsx';
import { PlusIcon } from '../../../parts/layout/icons.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import { notifySuccess } from '../../../parts/messages/notifications.ts';
import { type Column, DataTable } from '../../../parts/tables/data-table.tsx';
import classes from '../costs.module.css';
import { BudgetForm } from './budget-form.tsx';

type BudgetAction = 'create' | 'edit' | 'delete';

/** Monthly budgets with their alert thresholds. */
export function BudgetsPanel() {
  const api = useApi();
  const { organizationId, can } = useSession();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(budgetsQuery(api, organizationId));
  const [chosen, setChosen] = useState<{ action: BudgetAction; budget?: Budget }>();
  const close = () => setChosen(undefined);
  const remove = async ({ id, name }: Budget) => {
    await api.budgetDelete({ organizationId, budgetId: id });
    await queries.invalidateQueries({ queryKey: budgetsQuery(api, organizationId).queryKey });
    void queries.invalidateQueries({ queryKey: [organizationId, 'activities'] });
    notifySuccess(`Deleted budget ${name}`);
  };
  const create = can('budgetCreate') && (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<PlusIcon size={14} />}
      onClick={() => setChosen({ action: 'create' })}
    >
      New budget
    </Button>
  );
  return (
    <Panel title="Budgets" flush aside={create}>
      {error && !data ? (
        <ErrorNotice error={error} title="Could not load budgets" retry={() => refetch()} />
      ) : data?.length === 0 ? (
        <EmptyState title="No budgets yet">
          A budget alerts you when monthly costs reach a threshold. It does not stop services.
        </EmptyState>
      ) : (
        <DataTable
          label="Budgets"
          rows={data}
          rowKey={({ id }) => id}
          loadingRows={1}
          columns={createColumns(can('budgetUpdate') ? (budget, action) => setChosen({ budget, action }) : undefined)}
        />
      )}
      {chosen?.action === 'create' && <BudgetForm onClose={close} />}
      {chosen?.action === 'edit' && <BudgetForm budget={chosen.budget} onClose={close} />}
      {chosen?.action === 'delete' && chosen.budget && (
        <ConfirmDialog
          opened
          isDangerous
          title="Delete this budget?"
          action="Delete"
          onConfirm={() => remove(chosen.budget as Budget)}
          onClose={close}
        >
          <b>{chosen.budget.name}</b> and its alerts will be deleted.
        </ConfirmDialog>
      )}
    </Panel>
  );
}

function createColumns(onAction: ((budget: Budget, action: BudgetAction) => void) | undefined): Column<Budget>[] {
  const columns: Column<Budget>[] = [
    {
      header: 'Name',
      cell: (budget) => (
        <>
          <span className={classes.label}>{budget.name}</span>
          {budget.webhook && (
            <Text size="xs" c="dimmed" className={classes.label}>
              Webhook: {formatOrigin(budget.webhook.url)}
            </Text>
          )}
          {budget.notices.length > 0 && (
            <div className={classes.onPhone}>
              <BudgetAlerts budget={budget} />
            </div>
          )}
        </>
      ),
    },
    { header: 'Monthly budget', align: 'right', cell: ({ monthlyCHC }) => <Credits chc={monthlyCHC} /> },
    { header: 'Alert at', from: 'sm', cell: ({ thresholds }) => thresholds.map(formatThreshold).join(', ') },
    { header: 'Alerts this month', from: 'md', width: '40%', cell: (budget) => <BudgetAlerts budget={budget} /> },
  ];
  if (onAction)
    columns.push(
      createActionsColumn((budget) => (
        <ActionsMenu
          subject={`budget ${budget.name}`}
          actions={[{ name: 'Edit', onClick: () => onAction(budget, 'edit') }]}
          onDelete={() => onAction(budget, 'delete')}
        />
      )),
    );
  return columns;
}

/** The path and query of a webhook URL are often secret. */
const formatOrigin = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url);
