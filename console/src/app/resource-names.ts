import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { keysQuery, servicesQuery } from '../api/queries.ts';
import { useApi, useSession } from './context.tsx';

/** Current names of services and keys by ID, as far as they are loaded. */
export function useResourceNames(): ReadonlyMap<string, string> {
  const api = useApi();
  const { organizationId } = useSession();
  const services = useQuery(servicesQuery(api, organizationId)).data;
  const keys = useQuery(keysQuery(api, organizationId)).data;
  return useMemo(
    () => new Map([...(services ?? []), ...(keys ?? [])].map(({ id, name }) => [id, name])),
    [services, keys],
  );
}
