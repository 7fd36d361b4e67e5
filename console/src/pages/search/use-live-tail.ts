import { useCallback, useEffect, useMemo, useReducer, useRef } from 'react';
import { formatError } from '../../api/errors.ts';
import { readEventStream } from '../../api/event-stream.ts';
import { useDependencies } from '../../app/context.tsx';
import { type FoundRow, toFoundRows } from './columns.ts';
import type { Matching } from './queries.ts';

/** More rows are not kept in the page: the oldest go. */
const MAX_ROWS = 2000;

export const ROW_IS_OPEN = 'a row is open';

interface TailState {
  status: 'connecting' | 'open' | 'ended';
  /** Why it ended. */
  reason: string;
  /** Why new rows wait instead of being listed. */
  pausedBecause: string | undefined;
  /** Newest first. */
  shown: readonly FoundRow[];
  waiting: readonly FoundRow[];
  /** Rows that arrived while paused and are not kept. */
  dropped: number;
  /** Rows that the server did not send because there were too many. */
  skipped: number;
  /** Rows that were listed and are not kept. */
  hasForgotten: boolean;
  notice: string;
}

type Action =
  | { type: 'start' | 'open' | 'resume' }
  | { type: 'pause' | 'end' | 'notice'; text: string }
  | { type: 'rows'; rows: FoundRow[] }
  | { type: 'skip'; count: number };

const START: TailState = {
  status: 'connecting',
  reason: '',
  pausedBecause: undefined,
  shown: [],
  waiting: [],
  dropped: 0,
  skipped: 0,
  hasForgotten: false,
  notice: '',
};

function reduce(state: TailState, action: Action): TailState {
  switch (action.type) {
    case 'start':
      return START;
    case 'open':
      return { ...state, status: 'open' };
    case 'end':
      return { ...state, status: 'ended', reason: action.text };
    case 'notice':
      return { ...state, notice: action.text };
    case 'skip':
      return { ...state, skipped: state.skipped + action.count };
    case 'pause':
      return state.pausedBecause === undefined ? { ...state, pausedBecause: action.text } : state;
    case 'rows':
      return state.pausedBecause === undefined ? showRows(state, action.rows) : keepRows(state, action.rows);
    case 'resume':
      return { ...showRows(state, state.waiting), pausedBecause: undefined, waiting: [], dropped: 0 };
  }
}

function showRows(state: TailState, rows: readonly FoundRow[]): TailState {
  const all = [...rows, ...state.shown];
  const hasForgotten = state.hasForgotten || state.dropped > 0 || all.length > MAX_ROWS;
  return { ...state, shown: all.slice(0, MAX_ROWS), hasForgotten };
}

function keepRows(state: TailState, rows: readonly FoundRow[]): TailState {
  const all = [...rows, ...state.waiting];
  return {
    ...state,
    waiting: all.slice(0, MAX_ROWS),
    dropped: state.dropped + Math.max(0, all.length - MAX_ROWS),
  };
}

export interface LiveTail extends TailState {
  /** The new rows above those of the search. */
  combine: (rows: FoundRow[]) => FoundRow[];
  pause: (because: string) => void;
  resume: () => void;
  reconnect: () => void;
}

interface Input {
  isOn: boolean;
  /** New rows wait from the start. */
  isRowOpen: boolean;
  matching: Matching;
  select: string;
  columns: readonly string[];
  /** Called when new rows are followed: the rows before that have to be searched for. */
  onOpen: () => void;
}

/** Follows new rows. While it is paused, they are counted and wait. */
export function useLiveTail({ isOn, isRowOpen, matching, select, columns, onOpen }: Input): LiveTail {
  const { base, sessions } = useDependencies();
  const [state, dispatch] = useReducer(reduce, START);
  const [attempt, reconnect] = useReducer((count: number) => count + 1, 0);
  const opened = useRef(onOpen);
  opened.current = onOpen;
  const startsPaused = useRef(isRowOpen);
  startsPaused.current = isRowOpen;

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt connects again
  useEffect(() => {
    if (!isOn) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    dispatch({ type: 'start' });
    if (startsPaused.current) dispatch({ type: 'pause', text: ROW_IS_OPEN });
    readEventStream({
      base,
      sessions,
      path: '/api/v2/search/tail',
      body: { ...matching, select },
      signal,
      onOpen() {
        dispatch({ type: 'open' });
        opened.current();
      },
      onEvent(type, data) {
        const { data: rows, ids, count, message, reason } = data as TailEvent;
        if (type === 'rows') dispatch({ type, rows: toFoundRows(rows ?? [], ids ?? [], columns).reverse() });
        if (type === 'skipped') dispatch({ type: 'skip', count: count ?? 0 });
        if (type === 'notice') dispatch({ type, text: message ?? '' });
        if (type === 'end') dispatch({ type, text: reason ?? '' });
      },
    }).then(
      () => signal.aborted || dispatch({ type: 'end', text: 'The server ended the connection' }),
      (error) => signal.aborted || dispatch({ type: 'end', text: formatError(error) }),
    );
    return () => controller.abort();
  }, [isOn, base, sessions, matching, select, columns, attempt]);

  const { shown, hasForgotten } = state;
  const combine = useMemo(() => {
    const ids = new Set(shown.map(({ id }) => id));
    return (rows: FoundRow[]): FoundRow[] => {
      if (!isOn || shown.length === 0) return rows;
      // Rows between those that are kept and those of the search are missing.
      if (hasForgotten) return [...shown];
      return [...shown, ...rows.filter(({ id }) => !ids.has(id))];
    };
  }, [isOn, shown, hasForgotten]);
  return {
    ...state,
    combine,
    pause: useCallback((because: string) => dispatch({ type: 'pause', text: because }), []),
    resume: useCallback(() => dispatch({ type: 'resume' }), []),
    reconnect,
  };
}

interface TailEvent {
  data?: Record<string, unknown>[];
  ids?: string[];
  count?: number;
  message?: string;
  reason?: string;
}
