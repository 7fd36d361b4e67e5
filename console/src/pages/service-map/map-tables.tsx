import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../parts/format/format.ts';
import { Panel } from '../../parts/layout/panel.tsx';
import { type Column, DataTable } from '../../parts/tables/data-table.tsx';
import { formatNs } from '../traces/durations.ts';
import type { ServiceMap } from '../traces/queries.ts';
import type { TracesSearch } from '../traces/search.ts';
import type { SpanColumns } from '../traces/use-columns.ts';
import { type MapEdge, type MapNode, toEdgeSearch, toNodeSearch } from './map-conditions.ts';
import { formatKind, formatShare } from './map-words.ts';
import classes from './service-map.module.css';

interface Props {
  map: ServiceMap | undefined;
  columns: SpanColumns;
  page: TracesSearch;
}

/** All that the graph shows, and the nodes and edges that it leaves out. */
export function MapTables({ map, columns, page }: Props) {
  const nodes = new Map(map?.nodes.map((node) => [node.id, node]));
  return (
    <>
      <Panel title="Requests between them" flush>
        <DataTable
          label="Requests between services, databases and queues"
          columns={createEdgeColumns(nodes, columns, page)}
          rows={map?.edges}
          rowKey={({ from, to }) => JSON.stringify([from, to])}
        />
      </Panel>
      <Panel title="Services, databases and queues" flush>
        <DataTable
          label="Services, databases and queues"
          columns={createNodeColumns(columns, page)}
          rows={map?.nodes}
          rowKey={({ id }) => id}
        />
      </Panel>
    </>
  );
}

const createLoadColumns = <Row extends Pick<MapEdge, 'requests' | 'errors'> & { p95Ns?: number }>(): Column<Row>[] => [
  {
    header: 'Requests',
    align: 'right',
    sortBy: ({ requests }) => requests,
    cell: ({ requests }) => formatNumber(requests),
  },
  {
    header: 'Errors',
    align: 'right',
    sortBy: ({ requests, errors }) => (requests === 0 ? 0 : errors / requests),
    cell: ({ requests, errors }) => (
      <span className={errors > 0 ? classes.bad : undefined}>{formatShare(errors, requests)}</span>
    ),
  },
  {
    header: '95th percentile',
    align: 'right',
    from: 'sm',
    sortBy: ({ p95Ns }) => p95Ns ?? 0,
    cell: ({ p95Ns }) => <span className="ph-fixed">{p95Ns === undefined ? '–' : formatNs(p95Ns)}</span>,
  },
];

const nameNode = ({ kind, name }: MapNode): string => (kind === 'service' ? name : `${name} (${kind})`);

const createEdgeColumns = (
  nodes: ReadonlyMap<string, MapNode>,
  columns: SpanColumns,
  page: TracesSearch,
): Column<MapEdge>[] => [
  {
    header: 'From and to',
    sortBy: ({ from, to }) => `${nodes.get(from)?.name} ${nodes.get(to)?.name}`,
    cell: (edge) => {
      const [from, to] = [nodes.get(edge.from), nodes.get(edge.to)];
      if (!from || !to) return null;
      return (
        <Link to="/traces" search={toEdgeSearch(page, from, to, columns)} className={`ph-link ${classes.link}`}>
          {nameNode(from)} → {nameNode(to)}
        </Link>
      );
    },
  },
  ...createLoadColumns<MapEdge>(),
];

const createNodeColumns = (columns: SpanColumns, page: TracesSearch): Column<MapNode>[] => [
  {
    header: 'Name',
    sortBy: ({ name }) => name,
    cell: (node) => (
      <>
        <Link to="/traces" search={toNodeSearch(page, node, columns)} className={`ph-link ${classes.link}`}>
          {node.name}
        </Link>
        <Text size="xs" c="dimmed">
          {formatKind(node)}
        </Text>
      </>
    ),
  },
  ...createLoadColumns<MapNode>(),
];
