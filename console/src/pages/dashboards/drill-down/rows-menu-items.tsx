import { Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi, useSession } from '../../../app/context.tsx';
import type { ValueRows } from './drill-down.ts';
import { useDrillDown } from './drill-down-context.tsx';
import { toSpanSearch, tracesOfLogsQuery } from './drill-down-traces.ts';

/** Links to the rows of a value and to their traces. */
export function RowsMenuItems({ rows, zone }: { rows: readonly ValueRows[]; zone: string }) {
  const inZone = zone === 'UTC' ? { utc: true as const } : {};
  return (
    <>
      {rows.map(({ label, search }) => (
        <Menu.Item
          key={label}
          renderRoot={(props) => <Link to="/search" search={{ ...search, ...inZone }} {...props} />}
        >
          {label}
        </Menu.Item>
      ))}
      {rows
        .slice(0, 1)
        .map((one) =>
          one.source.kind === 'trace' ? (
            <SpanTraces key={one.label} rows={one} inZone={inZone} />
          ) : (
            <LogTraces key={one.label} rows={one} inZone={inZone} />
          ),
        )}
    </>
  );
}

interface Props {
  rows: ValueRows;
  inZone: { utc?: true };
}

function SpanTraces({ rows, inZone }: Props) {
  const search = toSpanSearch(rows);
  if (!search) return null;
  return (
    <Menu.Item renderRoot={(props) => <Link to="/traces" search={{ ...search, ...inZone }} {...props} />}>
      Traces
    </Menu.Item>
  );
}

/** Only if some of the newest rows have a trace id. */
function LogTraces({ rows, inZone }: Props) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data } = useQuery(tracesOfLogsQuery(api, organizationId, rows, useDrillDown() ?? []));
  if (!data) return null;
  return (
    <Menu.Item renderRoot={(props) => <Link to="/traces" search={{ ...data.search, ...inZone }} {...props} />}>
      {data.isAll ? 'Traces' : 'Traces of the newest rows'}
    </Menu.Item>
  );
}
