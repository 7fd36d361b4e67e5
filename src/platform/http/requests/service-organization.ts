import type { FastifyRequest } from 'fastify';
import { getIdentity } from '../guard.ts';

interface Services {
  /** Throws if the organization has no such service. */
  get(organizationId: string, id: string): unknown;
}

/** For operations below a service that concern the whole organization: its id. Throws if the service does not exist. */
export const createOrganizationReader =
  (services: Services) =>
  async (request: FastifyRequest): Promise<string> => {
    const { organizationId } = getIdentity(request);
    const { serviceId } = request.params as { serviceId: string };
    await services.get(organizationId, serviceId.toLowerCase());
    return organizationId;
  };
