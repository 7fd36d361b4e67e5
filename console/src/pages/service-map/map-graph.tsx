import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { plural } from '../../parts/format/format.ts';
import { IconBase, type IconProps, ServicesIcon } from '../../parts/layout/icons.tsx';
import { ScrollRegion } from '../../parts/tables/scroll-region.tsx';
import { formatNs } from '../traces/durations.ts';
import type { ServiceMap } from '../traces/queries.ts';
import type { TracesSearch } from '../traces/search.ts';
import type { SpanColumns } from '../traces/use-columns.ts';
import { type MapEdge, type MapNode, toEdgeSearch, toNodeSearch } from './map-conditions.ts';
import { layoutMap, NODE, type Point } from './map-layout.ts';
import { formatCompact, formatKind, formatShare } from './map-words.ts';
import classes from './service-map.module.css';

interface Props {
  map: ServiceMap;
  columns: SpanColumns;
  /** What the page is about. */
  page: TracesSearch;
}

/** More could not be told apart. The tables have all. */
export const MAX_DRAWN = 60;
const MIN_SCALE = 0.75;
const MAX_STROKE = 4;
const MAX_NAME = 15;
/** About the width of a digit. */
const CHARACTER_PX = 6.3;
/** The line of an edge with more errors is red. */
const BAD_SHARE = 0.01;

const shorten = (text: string): string => (text.length > MAX_NAME ? `${text.slice(0, MAX_NAME - 1)}…` : text);

/** The map as a picture. It is hidden from screen readers and the keyboard, which have the tables. */
export function MapGraph({ map, columns, page }: Props) {
  const { nodes, edges, layout } = useMemo(() => {
    const shown = map.nodes.slice(0, MAX_DRAWN);
    const ids = new Set(shown.map(({ id }) => id));
    const linked = map.edges.filter(({ from, to }) => ids.has(from) && ids.has(to));
    return { nodes: new Map(shown.map((node) => [node.id, node])), edges: linked, layout: layoutMap([...ids], linked) };
  }, [map]);
  const { width, height } = layout;
  const most = Math.max(1, ...edges.map(({ requests }) => requests));
  return (
    <ScrollRegion className={classes.scroll} aria-label="Graph">
      <svg
        className={classes.graph}
        viewBox={`0 0 ${width} ${height}`}
        style={{ width: `clamp(${width * MIN_SCALE}px, 100%, ${width}px)`, aspectRatio: `${width} / ${height}` }}
        aria-hidden="true"
        data-testid="service-map"
      >
        <defs>
          <marker
            id="map-arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path d="M0 0 8 4 0 8z" className={classes.arrow} />
          </marker>
        </defs>
        {/* Labels after all lines, so that no line crosses one. */}
        {[EdgeLine, EdgeLabel].map((Part) =>
          edges.map((edge, index) => {
            const [from, to, drawn] = [nodes.get(edge.from), nodes.get(edge.to), layout.edges[index]];
            if (!from || !to || !drawn) return null;
            return (
              <Link
                key={`${edge.from} ${edge.to}`}
                to="/traces"
                search={toEdgeSearch(page, from, to, columns)}
                tabIndex={-1}
              >
                <g className={classes.edge} data-bad={edge.errors > 0 && edge.errors >= edge.requests * BAD_SHARE}>
                  <title>{`${from.name} → ${to.name}: ${describeLoad(edge)}, 95% within ${formatNs(edge.p95Ns)}`}</title>
                  <Part edge={edge} {...drawn} most={most} />
                </g>
              </Link>
            );
          }),
        )}
        {[...nodes.values()].map((node) => (
          <Link key={node.id} to="/traces" search={toNodeSearch(page, node, columns)} tabIndex={-1}>
            <NodeShape node={node} at={layout.nodes.get(node.id) ?? { x: 0, y: 0 }} />
          </Link>
        ))}
      </svg>
    </ScrollRegion>
  );
}

interface EdgeProps {
  edge: MapEdge;
  path: string;
  label: Point;
  /** Requests of the edge that has the most. */
  most: number;
}

const describeLoad = ({ requests, errors }: Pick<MapEdge, 'requests' | 'errors'>): string =>
  `${plural(requests, 'request')}, ${formatShare(errors, requests)} errors`;

function EdgeLine({ edge: { requests }, path, most }: EdgeProps) {
  return (
    <>
      <path d={path} className={classes.hit} />
      <path
        d={path}
        className={classes.line}
        strokeWidth={1 + (MAX_STROKE - 1) * (Math.log1p(requests) / Math.log1p(most))}
        markerEnd="url(#map-arrow)"
      />
    </>
  );
}

function EdgeLabel({ edge: { requests, errors, p95Ns }, label: { x, y } }: EdgeProps) {
  const [count, share, duration] = [formatCompact(requests), formatShare(errors, requests), formatNs(p95Ns)];
  const width = `${count} · ${share} · ${duration}`.length * CHARACTER_PX + 8;
  return (
    <>
      <rect className={classes.edgeGround} x={x - width / 2} y={y - 9} width={width} height={18} rx={4} />
      <text x={x} y={y} className={classes.edgeText}>
        {count} · <tspan className={errors > 0 ? classes.errors : undefined}>{share}</tspan> · {duration}
      </text>
    </>
  );
}

function NodeShape({ node, at }: { node: MapNode; at: Point }) {
  const Icon = ICONS[node.kind];
  const { name, requests, errors } = node;
  return (
    <g className={classes.node} data-kind={node.kind} transform={`translate(${at.x} ${at.y})`}>
      <title>{`${name} (${formatKind(node)}): ${describeLoad(node)}`}</title>
      <rect width={NODE.width} height={NODE.height} rx={node.kind === 'service' ? 8 : 18} />
      <g transform="translate(10 10)">
        <Icon size={15} />
      </g>
      <text x={32} y={node.system ? 19 : 25} className={classes.name}>
        {shorten(name)}
      </text>
      {node.system && (
        <text x={32} y={34} className={classes.load}>
          {shorten(node.system)}
        </text>
      )}
      <text x={32} y={node.system ? 49 : 43} className={classes.load}>
        {formatCompact(requests)} req
        {errors > 0 && <tspan className={classes.errors}> · {formatShare(errors, requests)}</tspan>}
      </text>
    </g>
  );
}

const ICONS: Record<MapNode['kind'], (props: IconProps) => ReactNode> = {
  database: ServicesIcon,
  service: (props) => (
    <IconBase {...props}>
      <rect x="3" y="3" width="14" height="14" rx="3" />
      <path d="M3 8h14" />
    </IconBase>
  ),
  queue: (props) => (
    <IconBase {...props}>
      <path d="M3 5h14M3 10h14M3 15h14" />
    </IconBase>
  ),
  external: (props) => (
    <IconBase {...props}>
      <circle cx="10" cy="10" r="7" />
      <path d="M3 10h14M10 3c5 4 5 10 0 14M10 3c-5 4-5 10 0 14" />
    </IconBase>
  ),
};
