import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, use } from 'react';
import { sourcesQuery } from '../../../api/queries.ts';
import { useApi, useSession } from '../../../app/context.tsx';
import type { Source } from '../where/suggestions.ts';

const Sources = createContext<readonly Source[] | undefined>(undefined);

/** Tiles inside of it lead to the rows of their values. */
export function DrillDownProvider({ children }: { children: ReactNode }) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data } = useQuery(sourcesQuery(api, organizationId));
  return <Sources value={data}>{children}</Sources>;
}

/** The sources of the organization; undefined where values do not lead to their rows. */
export const useDrillDown = (): readonly Source[] | undefined => use(Sources);
