import type { QueryClient } from '@tanstack/react-query';

/** In memory only, and for ten minutes at most: neither the address nor the history of the browser has it. */
const passwordKey = (organizationId: string, serviceId: string) => [organizationId, 'new-password', serviceId];

/** Hands the password of a new service to its page, which shows it once. */
export const handOverPassword = (queries: QueryClient, organizationId: string, serviceId: string, password: string) =>
  queries.setQueryData(passwordKey(organizationId, serviceId), password);

export const findNewPassword = (queries: QueryClient, organizationId: string, serviceId: string): string | undefined =>
  queries.getQueryData<string>(passwordKey(organizationId, serviceId));

export const forgetPassword = (queries: QueryClient, organizationId: string, serviceId: string): void =>
  queries.removeQueries({ queryKey: passwordKey(organizationId, serviceId) });
