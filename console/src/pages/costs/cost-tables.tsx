import { Table } from '@mantine/core';
import { Credits } from '../../parts/credits.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatBillDay, formatNumber } from '../../parts/format.ts';
import { ScrollRegion } from '../../parts/scroll-region.tsx';
import { type Breakdown, type CostGroup, toCredits } from './breakdown.ts';
import classes from './costs.module.css';
import type { Grouping } from './search.ts';

export const GROUPING_LABELS: Record<Grouping, string> = {
  metric: 'Metric',
  service: 'Service',
  warehouse: 'Warehouse',
};

const share = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${formatNumber(Math.round((part / whole) * 1000) / 10)}%`;

/** The cost of each group over the whole span, with the total. */
export function GroupTable({ breakdown: { groups, total }, by }: { breakdown: Breakdown; by: Grouping }) {
  const columns: Column<CostGroup>[] = [
    { header: GROUPING_LABELS[by], cell: ({ label }) => <span className={classes.label}>{label}</span> },
    { header: 'Share', align: 'right', width: 90, cell: (group) => share(group.total, total) },
    { header: 'CHC', align: 'right', cell: (group) => <Credits chc={toCredits(group.total)} exact unit={false} /> },
  ];
  return (
    <DataTable
      label={`Costs by ${by}`}
      columns={columns}
      rows={groups}
      rowKey={({ id }) => id}
      footer={
        <Table.Tr className={classes.sum}>
          <Table.Th scope="row">Total</Table.Th>
          <Table.Td />
          <Table.Td ta="right" data-testid="total">
            <Credits chc={toCredits(total)} exact unit={false} />
          </Table.Td>
        </Table.Tr>
      }
    />
  );
}

/** The cost of each group per day, latest day first. */
export function DayTable({ breakdown: { days, groups, dayTotals, openDays, total } }: { breakdown: Breakdown }) {
  const order = days.map((_, at) => at).toReversed();
  return (
    <ScrollRegion className={classes.days} label="Costs by day">
      <table className={classes.dayTable}>
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            <th scope="col">State</th>
            {groups.map(({ id, label }) => (
              <th key={id} scope="col" data-amount>
                {label}
              </th>
            ))}
            <th scope="col" data-amount>
              Total
            </th>
          </tr>
        </thead>
        <tbody>
          {order.map((at) => {
            const day = days[at] ?? '';
            return (
              <tr key={day} data-day={day}>
                <th scope="row" title={day}>
                  {formatBillDay(day)}
                </th>
                <td className={classes.state}>{openDays.has(day) ? 'Not final' : 'Locked'}</td>
                {groups.map((group) => (
                  <td key={group.id} data-amount>
                    <Credits chc={toCredits(group.days[at] ?? 0)} exact unit={false} />
                  </td>
                ))}
                <td data-amount data-sum>
                  <Credits chc={toCredits(dayTotals[at] ?? 0)} exact unit={false} />
                </td>
              </tr>
            );
          })}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            <td />
            {groups.map((group) => (
              <td key={group.id} data-amount>
                <Credits chc={toCredits(group.total)} exact unit={false} />
              </td>
            ))}
            <td data-amount data-sum>
              <Credits chc={toCredits(total)} exact unit={false} />
            </td>
          </tr>
        </tfoot>
      </table>
    </ScrollRegion>
  );
}
