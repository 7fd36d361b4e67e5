import { Table } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Credits } from '../../parts/costs/credits.tsx';
import { formatBillDate, formatPercent, plural } from '../../parts/format/format.ts';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import { ScrollRegion } from '../../parts/tables/scroll-region.tsx';
import { type Breakdown, type CostGroup, toCredits } from './breakdown.ts';
import type { ScalingMark } from './chart/scaling-marks.ts';
import classes from './costs.module.css';
import { withSearch } from './filters.ts';
import { toMeter } from './metrics.ts';
import type { CostsSearch, Grouping } from './search.ts';

export const GROUPING_LABELS: Record<Grouping, string> = {
  metric: 'Metric',
  service: 'Service',
  warehouse: 'Warehouse',
};

const share = (part: number, whole: number): string => (whole === 0 ? '–' : formatPercent((part / whole) * 100));

/** The cost of each group over the whole span or day, with the total. A row drills down into its group. */
export function GroupTable({ breakdown: { groups, total }, by, search }: GroupTableProps) {
  const columns: Column<CostGroup>[] = [
    {
      header: GROUPING_LABELS[by],
      cell: ({ id, label }) => (
        <Link to="/costs" search={drillDown(search, by, id)} resetScroll={false} className={classes.drillLink}>
          <span className={classes.label}>{label}</span>
        </Link>
      ),
    },
    { header: 'Share', align: 'right', width: 90, cell: (group) => share(group.total, total) },
    { header: 'CHC', align: 'right', cell: (group) => <Credits chc={toCredits(group.total)} exact unit={false} /> },
  ];
  return (
    <div className={classes.drillable}>
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
    </div>
  );
}

interface GroupTableProps {
  breakdown: Breakdown;
  by: Grouping;
  search: CostsSearch;
}

/** Limits the page to the group, and groups by what is left to distinguish. */
function drillDown(search: CostsSearch, by: Grouping, id: string): CostsSearch {
  if (by === 'metric') return withSearch(search, { metric: toMeter(id), by: 'service' });
  if (by === 'warehouse') return withSearch(search, { warehouse: id, by: 'service' });
  return withSearch(search, { entity: id, by: undefined });
}

/** The cost of each group per day, latest day first. */
export function DayTable({ breakdown, search, marks }: DayTableProps) {
  const { days, groups, dayTotals, openDays, total } = breakdown;
  const order = days.map((_, at) => at).toReversed();
  return (
    <ScrollRegion className={classes.days} aria-label="Costs by day">
      <table className={classes.dayTable}>
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            <th scope="col" className={classes.state}>
              State
            </th>
            {groups.map(({ id, label }) => (
              <th key={id} scope="col" data-amount>
                {label}
              </th>
            ))}
            <th scope="col" data-amount data-sum>
              Total
            </th>
          </tr>
        </thead>
        <tbody>
          {order.map((at) => {
            const day = days[at] ?? '';
            return (
              <tr key={day} data-day={day} data-selected={day === search.day}>
                <th scope="row" title={day}>
                  <Link to="/costs" search={withSearch(search, { day })} className="ph-link">
                    {formatBillDate(day)}
                  </Link>
                  {openDays.has(day) && <span className={classes.stateOnPhone}>Not final</span>}
                </th>
                <td className={classes.state}>
                  {openDays.has(day) ? 'Not final' : 'Locked'}
                  {marks.has(day) && ` · ${plural(marks.get(day)?.length ?? 0, 'scaling change')}`}
                </td>
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
            <td className={classes.state} />
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

interface DayTableProps {
  breakdown: Breakdown;
  search: CostsSearch;
  marks: ReadonlyMap<string, readonly ScalingMark[]>;
}
