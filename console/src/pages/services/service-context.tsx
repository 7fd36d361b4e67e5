import { createContext, type ReactNode, use } from 'react';
import type { Service } from '../../api/types.ts';

const ServiceContext = createContext<Service | undefined>(undefined);

export const ServiceProvider = ({ service, children }: { service: Service; children: ReactNode }) => (
  <ServiceContext value={service}>{children}</ServiceContext>
);

/** The service of the page, as it was last read. Only for the tabs of the service page. */
export function useService(): Service {
  const service = use(ServiceContext);
  if (!service) throw new Error('ServiceProvider is missing');
  return service;
}
