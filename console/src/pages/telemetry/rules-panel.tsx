import { Button, Group, Stack, Switch, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { formatError } from '../../api/errors.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { ErrorNotice } from '../../parts/layout/error-notice.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import { type Rule, rulesQuery } from './queries.ts';
import { RuleForm } from './rule-form.tsx';
import classes from './telemetry.module.css';
import { SIGNAL_LABELS } from './words.ts';

/** The rules that drop or sample what arrives. */
export function RulesPanel() {
  const api = useApi();
  const { organizationId, can } = useSession();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(rulesQuery(api, organizationId));
  const save = useMutation({
    mutationFn: (rules: Rule[]) => api.telemetryRulesUpdate({ organizationId, body: { rules } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [organizationId, 'telemetry', 'rules'] }),
  });
  if (error && !data) return <ErrorNotice error={error} title="Could not load the rules" retry={() => refetch()} />;
  const rules = data?.rules ?? [];
  const canChange = can('telemetryRulesUpdate');
  return (
    <Panel title="Rules" flush>
      {data && rules.length === 0 ? (
        <Text size="sm" c="dimmed" className={classes.empty}>
          There are no rules: everything that arrives is stored.
        </Text>
      ) : (
        <DataTable
          label="Rules"
          columns={createColumns(canChange && !save.isPending, rules, save.mutate)}
          rows={data && rules}
          rowKey={({ name }) => name}
        />
      )}
      <Stack gap="sm" className={classes.note}>
        <Text size="xs" c="dimmed">
          The first rule whose condition is true decides. What rules drop is not stored and not billed.
        </Text>
        {save.error && <Note tone="bad">{formatError(save.error)}</Note>}
        {canChange && data && (
          <RuleForm isPending={save.isPending} onAdd={(rule) => save.mutateAsync([...rules, rule])} />
        )}
      </Stack>
    </Panel>
  );
}

const describeAction = ({ action, keepPercent }: Rule): string =>
  action === 'drop' ? 'Drop all' : `Keep ${keepPercent} %`;

function createColumns(canChange: boolean, rules: Rule[], save: (rules: Rule[]) => void): Column<Rule>[] {
  return [
    {
      header: 'Rule',
      cell: ({ name, where, signal }) => (
        <>
          <span className={classes.name}>{name}</span>
          <Text size="xs" c="dimmed" className={classes.sample}>
            {SIGNAL_LABELS[signal]}
            {where === '' ? ', all records' : `: ${where}`}
          </Text>
        </>
      ),
    },
    { header: 'Action', cell: describeAction },
    {
      header: 'Change',
      isHeaderHidden: true,
      align: 'right',
      cell: (rule) => (
        <Group gap="sm" justify="flex-end" wrap="nowrap">
          <Switch
            size="xs"
            checked={rule.enabled}
            disabled={!canChange}
            aria-label={`Rule ${rule.name} is enabled`}
            onChange={(event) => {
              const enabled = event.currentTarget.checked;
              save(rules.map((one) => (one.name === rule.name ? { ...one, enabled } : one)));
            }}
          />
          {canChange && (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`Delete rule ${rule.name}`}
              onClick={() => save(rules.filter(({ name }) => name !== rule.name))}
            >
              Delete
            </Button>
          )}
        </Group>
      ),
    },
  ];
}
