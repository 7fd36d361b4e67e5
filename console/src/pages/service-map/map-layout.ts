/** A layered layout from left to right: callers before what they call, as far as there are no cycles. */
interface MapLayout {
  width: number;
  height: number;
  /** The upper left corner of each node. */
  nodes: ReadonlyMap<string, Point>;
  /** In the order of the edges. */
  edges: { path: string; label: Point }[];
}

export interface Point {
  x: number;
  y: number;
}

interface Link {
  from: string;
  to: string;
}

export const NODE = { width: 168, height: 58 };
const GAP = { x: 180, y: 20 };
const MARGIN = 24;
/** The height of an edge that passes a layer. */
const LANE_PX = 18;
/** Labels that are closer to each other overlap. */
const LABEL = { width: 104, height: 19 };
const SWEEPS = 12;

/** A node, or a place where a long edge passes a layer. */
interface Slot {
  id: string;
  layer: number;
  height: number;
  /** The middle. */
  y: number;
  before: Slot[];
  after: Slot[];
}

export function layoutMap(ids: readonly string[], links: readonly Link[]): MapLayout {
  const layers = assignLayers(ids, links);
  const columns: Slot[][] = [];
  const add = (id: string, layer: number, height: number): Slot => {
    const slot: Slot = { id, layer, height, y: 0, before: [], after: [] };
    columns[layer] = [...(columns[layer] ?? []), slot];
    return slot;
  };
  const slots = new Map(ids.map((id) => [id, add(id, layers.get(id) ?? 0, NODE.height)]));
  const chains = links.map(({ from, to }) => {
    const ends = [slots.get(from), slots.get(to)] as [Slot, Slot];
    const isBack = ends[0].layer > ends[1].layer;
    const [first, last] = isBack ? [ends[1], ends[0]] : ends;
    const chain = [first];
    for (let layer = first.layer + 1; layer < last.layer; layer += 1) chain.push(add('', layer, LANE_PX));
    if (first !== last) chain.push(last);
    for (const [index, slot] of chain.entries()) {
      const next = chain[index + 1];
      if (!next) continue;
      slot.after.push(next);
      next.before.push(slot);
    }
    return isBack ? chain.toReversed() : chain;
  });
  orderColumns(columns);
  const height = placeColumns(columns);
  const getX = (layer: number) => MARGIN + layer * (NODE.width + GAP.x);
  const edges = chains.map((chain) => drawEdge(chain, getX));
  separateLabels(edges.map(({ label }) => label));
  return {
    width: getX(columns.length - 1) + NODE.width + MARGIN,
    height,
    nodes: new Map([...slots].map(([id, { layer, y }]) => [id, { x: getX(layer), y: y - NODE.height / 2 }])),
    edges,
  };
}

/** The longest way from a node that nothing calls. Edges that close a cycle do not count. */
function assignLayers(ids: readonly string[], links: readonly Link[]): Map<string, number> {
  const targets = new Map(ids.map((id) => [id, links.filter(({ from, to }) => from === id && to !== id)]));
  const isTarget = new Set(links.filter(({ from, to }) => from !== to).map(({ to }) => to));
  const states = new Map<string, 'open' | 'done'>();
  const finished: string[] = [];
  const forward: Link[] = [];
  const visit = (id: string) => {
    states.set(id, 'open');
    for (const link of targets.get(id) ?? []) {
      if (states.get(link.to) === 'open') continue;
      forward.push(link);
      if (!states.has(link.to)) visit(link.to);
    }
    states.set(id, 'done');
    finished.push(id);
  };
  // Nodes that nothing calls come first, so that cycles are entered where requests arrive.
  for (const id of [...ids.filter((one) => !isTarget.has(one)), ...ids]) if (!states.has(id)) visit(id);
  const layers = new Map(ids.map((id) => [id, 0]));
  for (const id of finished.toReversed())
    for (const { from, to } of forward)
      if (from === id) layers.set(to, Math.max(layers.get(to) ?? 0, (layers.get(id) ?? 0) + 1));
  return layers;
}

/** Orders each layer by the mean place of its neighbors, so that few edges cross. */
function orderColumns(columns: Slot[][]): void {
  const number = () => {
    for (const column of columns) for (const [index, slot] of column.entries()) slot.y = index / column.length;
  };
  number();
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isForward = sweep % 2 === 0;
    for (const column of isForward ? columns : columns.toReversed()) {
      for (const slot of column) slot.y = getMean(isForward ? slot.before : slot.after) ?? slot.y;
      column.sort((a, b) => a.y - b.y);
    }
    number();
  }
}

/** Moves each slot toward its neighbors without changing the order. Returns the height. */
function placeColumns(columns: Slot[][]): number {
  for (const column of columns) pack(column, () => 0);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1)
    for (const column of sweep % 2 === 0 ? columns : columns.toReversed())
      pack(column, (slot) => getMean([...slot.before, ...slot.after]) ?? slot.y);
  const all = columns.flat();
  const top = Math.min(...all.map(({ y, height }) => y - height / 2));
  for (const slot of all) slot.y += MARGIN - top;
  return Math.max(...all.map(({ y, height }) => y + height / 2)) + MARGIN;
}

function pack(column: Slot[], getWanted: (slot: Slot) => number): void {
  let bottom = Number.NEGATIVE_INFINITY;
  let shift = 0;
  for (const slot of column) {
    const wanted = getWanted(slot);
    slot.y = Math.max(wanted, bottom + GAP.y + slot.height / 2);
    bottom = slot.y + slot.height / 2;
    shift += (slot.y - wanted) / column.length;
  }
  for (const slot of column) slot.y -= shift;
}

const getMean = (slots: readonly Slot[]): number | undefined =>
  slots.length === 0 ? undefined : slots.reduce((sum, { y }) => sum + y, 0) / slots.length;

function drawEdge(chain: readonly Slot[], getX: (layer: number) => number): { path: string; label: Point } {
  const [first, second] = chain as [Slot, Slot | undefined];
  const x = getX(first.layer);
  if (!second) {
    // A request of a service to itself.
    const [right, y] = [x + NODE.width, first.y];
    const path = `M${right - 30} ${y - NODE.height / 2}c0 -26 46 -26 46 10c0 10 -6 14 -14 14`;
    return { path, label: { x: right + 44, y: y - NODE.height / 2 - 8 } };
  }
  const isForward = second.layer > first.layer;
  let [at, y] = [isForward ? x + NODE.width : x, first.y];
  let path = `M${at} ${y}`;
  for (const [index, slot] of chain.slice(1).entries()) {
    const isLast = index === chain.length - 2;
    const left = getX(slot.layer);
    const entry = isForward ? left : left + NODE.width;
    const bend = (entry - at) / 2;
    path += `C${at + bend} ${y} ${entry - bend} ${slot.y} ${entry} ${slot.y}`;
    [at, y] = [entry, slot.y];
    if (isLast) continue;
    at = isForward ? left + NODE.width : left;
    path += `L${at} ${y}`;
  }
  return { path, label: placeLabel(chain, isForward, getX) };
}

/** On a long edge, where it passes a layer alone. On a short one, nearer to the end that has fewer edges. */
function placeLabel(chain: readonly Slot[], isForward: boolean, getX: (layer: number) => number): Point {
  const [first, second] = chain as [Slot, Slot];
  if (chain.length > 2) return { x: getX(second.layer) + NODE.width / 2, y: second.y };
  const [leaving, arriving] = isForward
    ? [first.after.length, second.before.length]
    : [first.before.length, second.after.length];
  const part = leaving > arriving ? 0.68 : leaving < arriving ? 0.32 : 0.5;
  const start = isForward ? getX(first.layer) + NODE.width : getX(first.layer);
  // The curve of drawEdge.
  const y = first.y + (second.y - first.y) * part ** 2 * (3 - 2 * part);
  return { x: start + (isForward ? part : -part) * GAP.x, y };
}

/** Moves labels down until none overlaps another. */
function separateLabels(labels: readonly Point[]): void {
  const placed: Point[] = [];
  for (const label of labels.toSorted((a, b) => a.y - b.y)) {
    const near = placed.filter(({ x }) => Math.abs(x - label.x) < LABEL.width).sort((a, b) => a.y - b.y);
    for (const { y } of near) if (Math.abs(y - label.y) < LABEL.height) label.y = y + LABEL.height;
    placed.push(label);
  }
}
