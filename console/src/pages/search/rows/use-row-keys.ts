import { useHotkeys } from '@mantine/hooks';
import { type RefObject, useRef, useState } from 'react';
import type { FoundRow } from '../columns.ts';

/** The current row, which the keys move. */
export interface RowCursor {
  currentId: string | undefined;
  setCurrent: (id: string) => void;
  /** Set by the table. */
  scroll: RefObject<((index: number) => void) | undefined>;
  goToTop: () => void;
}

interface Input {
  rows: readonly FoundRow[];
  openId: string | undefined;
  onOpen: (id: string | undefined) => void;
  input: RefObject<HTMLInputElement | null>;
}

/** `/` focuses the query, j and k move, Enter opens, Escape closes. Not while typing. */
export function useRowKeys({ rows, openId, onOpen, input }: Input): RowCursor {
  const [currentId, setCurrent] = useState(openId);
  const scroll = useRef<(index: number) => void>(undefined);
  const move = (by: number) => {
    if (rows.length === 0) return;
    const at = rows.findIndex(({ id }) => id === currentId);
    const index = at === -1 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1);
    const { id } = rows[index] ?? { id: '' };
    setCurrent(id);
    scroll.current?.(index);
    // The open panel follows.
    if (openId !== undefined) onOpen(id);
  };
  useHotkeys([
    ['/', () => input.current?.focus()],
    ['j', () => move(1)],
    ['k', () => move(-1)],
  ]);
  useHotkeys([['Enter', () => currentId !== undefined && onOpen(currentId)]], ACTIVATED_BY_ENTER);
  useHotkeys([['Escape', () => openId !== undefined && onOpen(undefined)]], []);
  return { currentId, setCurrent, scroll, goToTop: () => scroll.current?.(0) };
}

const ACTIVATED_BY_ENTER = ['INPUT', 'TEXTAREA', 'SELECT', 'BUTTON', 'A'];
