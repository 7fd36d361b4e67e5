import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import type { ListView } from '../api/pages.ts';
import type { Order } from '../parts/tables/data-table.tsx';

const DEBOUNCE_MS = 300;
/** The longest text that the server searches for. */
const MAX_SEARCH_LENGTH = 255;

/** The search text and order of a list. `view` follows the text after a moment without typing. */
export function useListView(): { text: string; setText: (text: string) => void; order: Order; view: ListView } {
  const [text, setText] = useState('');
  const [sort, setSort] = useState<ListView['sort']>();
  const [search] = useDebouncedValue(text.trim().slice(0, MAX_SEARCH_LENGTH), DEBOUNCE_MS);
  return {
    text,
    setText,
    order: { sort, onSort: (field) => setSort(field as ListView['sort']) },
    view: { search, sort },
  };
}
