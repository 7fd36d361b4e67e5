import { createContext } from 'react';
import type { TileFilter } from '../../../api/generated.ts';

/** The conditions of the viewer that apply to the tile around. */
export const TileFiltersContext = createContext<readonly TileFilter[]>([]);
