import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { keysQuery, servicesQuery } from '../api/queries.ts';
import { useApi, useSession } from './context.tsx';

/** The current names of services and keys by id, as far as they are known yet. */
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
