interface IndependentAlert {
  intervalMs: number;
  offsetMs: number;
  startAt: number | null;
  delayMs: number;
  thresholdType: string;
  threshold: number;
  thresholdMax: number;
  pendingMs: number;
  consecutive: number;
  keepFiringMs: number;
  repeatMs: number;
  noData: string;
  isGrouped: boolean;
  /** The value of the rows of a window. `count` of no rows is 0, others have no value. */
  aggregation: 'count' | 'max';
}

/** `arrivedAt`: when it was stored, by the same clock. */
export interface Row {
  time: number;
  arrivedAt: number;
  group: string;
  value: number;
}

type State = 'ok' | 'pending' | 'firing' | 'no_data';
type Meaning = 'beyond' | 'normal' | 'none' | 'ignored';

interface Group {
  state: State;
  history: Meaning[];
  lastRows: number;
}

/** What is known after a window. Groups that are ok are left out. */
export interface WindowResult {
  end: number;
  state: State;
  groups: Record<string, State>;
}

const HOUR = 3_600_000;
/** Stands for all rows of an alert without groups, and for an alert that has no groups yet. */
const ALL = '';

/**
 * Alerts as docs/alerts.md describes them, written without the code that the server uses. It keeps what every window of
 * a group was, and looks at it again for each window.
 */
export function createIndependentEvaluator(alert: IndependentAlert, rows: readonly Row[]) {
  const { intervalMs, startAt, delayMs } = alert;
  const groups = new Map<string, Group>();
  /** What was last sent about each group, when, and the receivers that were told anything. */
  const sent = new Map<string, { state: State; at: number; told: Set<string> }>();
  let last: number | undefined;

  /** The ends of windows to evaluate now. */
  function listEnds(now: number): number[] {
    const anchor = startAt ?? alert.offsetMs;
    let newest = anchor;
    while (newest + delayMs > now) newest -= intervalMs;
    newest += Math.floor((now - delayMs - newest) / intervalMs) * intervalMs;
    const oldest = newest - Math.min(50, (intervalMs < 15 * 60_000 ? 6 * HOUR : 24 * HOUR) / intervalMs) * intervalMs;
    const isNew = last === undefined || last > now + Math.min(intervalMs, HOUR);
    const ends: number[] = [];
    for (let end = newest; end > (isNew ? newest - intervalMs : (last as number)); end -= intervalMs) {
      if (end <= oldest || (startAt !== null && end - intervalMs < startAt)) break;
      ends.unshift(end);
    }
    return ends;
  }

  function readValues(end: number, now: number): Map<string, number> {
    const values = new Map<string, number>();
    for (const { time, arrivedAt, group, value } of rows) {
      if (time < end - intervalMs || time >= end || arrivedAt > now) continue;
      const name = alert.isGrouped ? group : ALL;
      const before = values.get(name);
      if (alert.aggregation === 'count') values.set(name, (before ?? 0) + 1);
      else values.set(name, before === undefined ? value : Math.max(before, value));
    }
    return values;
  }

  function isBeyond(value: number): boolean {
    const { thresholdType: type, threshold: low, thresholdMax: high } = alert;
    if (type === 'between' || type === 'not_between') return (value >= low && value <= high) === (type === 'between');
    if (type === 'equal' || type === 'not_equal') return (value === low) === (type === 'equal');
    if (type === 'above') return value >= low;
    if (type === 'above_exclusive') return value > low;
    return type === 'below' ? value < low : value <= low;
  }

  function findMeaning(given: number | undefined): Meaning {
    const value = given ?? (alert.aggregation === 'count' ? 0 : undefined);
    if (value !== undefined) return isBeyond(value) ? 'beyond' : 'normal';
    if (alert.noData === 'alert') return 'beyond';
    if (alert.noData === 'ok') return 'normal';
    return alert.noData === 'keep' ? 'ignored' : 'none';
  }

  /** After a window without a value. Without a normal window since there was no data, there is none again. */
  function findStateWithoutValue(state: State, seen: readonly Meaning[], toFire: number): State {
    const sinceNormal = seen.slice(seen.lastIndexOf('normal') + 1);
    const isMissingAt = (end: number) => sinceNormal.slice(end - toFire, end).every((one) => one === 'none');
    if (sinceNormal.length >= toFire && isMissingAt(sinceNormal.length)) return 'no_data';
    if (state !== 'pending') return state;
    return sinceNormal.some((_, index) => index + 1 >= toFire && isMissingAt(index + 1)) ? 'no_data' : 'ok';
  }

  /** From the state before and the windows at the end that mean the same. */
  function findState({ state, history }: Group): State {
    const seen = history.filter((meaning) => meaning !== 'ignored');
    const meaning = seen.at(-1);
    if (history.at(-1) === 'ignored' || meaning === undefined) return state;
    const inARow = seen.length - 1 - seen.findLastIndex((one) => one !== meaning);
    const toFire = Math.max(alert.consecutive, 1 + Math.ceil(alert.pendingMs / intervalMs));
    const toResolve = 1 + Math.ceil(alert.keepFiringMs / intervalMs);
    if (meaning === 'beyond') return state === 'firing' || inARow >= toFire ? 'firing' : 'pending';
    if (meaning === 'normal') return state === 'firing' && inARow < toResolve ? 'firing' : 'ok';
    return findStateWithoutValue(state, seen, toFire);
  }

  function evaluate(end: number, now: number): WindowResult {
    const values = readValues(end, now);
    for (const [name, { lastRows }] of groups)
      if (name !== ALL && !values.has(name) && end - lastRows >= Math.max(24 * HOUR, 10 * intervalMs))
        groups.delete(name);
    if (values.size > 0 && !values.has(ALL)) groups.delete(ALL);
    const names = new Set([...groups.keys(), ...values.keys()]);
    if (names.size === 0) names.add(ALL);
    for (const name of names) {
      const group = groups.get(name) ?? { state: 'ok', history: [], lastRows: end };
      group.history.push(findMeaning(values.get(name)));
      group.state = findState(group);
      if (values.has(name)) group.lastRows = end;
      groups.set(name, group);
    }
    const states = [...groups].flatMap(([name, { state }]) => (state === 'ok' ? [] : [[name, state] as const]));
    const state = (['firing', 'no_data', 'pending'] as const).find((one) => states.some(([, found]) => found === one));
    return { end, state: state ?? 'ok', groups: Object.fromEntries(states.sort()) };
  }

  /** What receivers must be told about one group. */
  function announceGroup(name: string, now: number, channels: readonly string[]): string[] {
    const state = groups.get(name)?.state ?? 'ok';
    const known = sent.get(name);
    if (state === 'pending') return [];
    if (state === 'ok') {
      sent.delete(name);
      return [...(known?.told ?? [])].map((channel) => `${channel}: ${name} resolved`);
    }
    const isRepeated = alert.repeatMs > 0 && known && Math.abs(now - known.at) >= alert.repeatMs;
    const isNews = known?.state !== state || isRepeated;
    const told = known?.told ?? new Set<string>();
    const receivers = channels.filter((channel) => isNews || !told.has(channel));
    sent.set(name, { state, at: isNews ? now : known.at, told: new Set([...told, ...channels]) });
    return receivers.map((channel) => `${channel}: ${name} ${state}`);
  }

  const announce = (now: number, channels: readonly string[]): string[] =>
    [...new Set([...groups.keys(), ...sent.keys()])].flatMap((name) => announceGroup(name, now, channels)).sort();

  return {
    /** Evaluates what is due. */
    pass(now: number, channels: readonly string[]): { windows: WindowResult[]; messages: string[] } {
      const ends = listEnds(now);
      const windows = ends.map((end) => evaluate(end, now));
      last = ends.at(-1) ?? last;
      return { windows, messages: announce(now, channels) };
    },
  };
}
