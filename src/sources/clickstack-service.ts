import { getIdentity } from '../http/guard.ts';
import type { Services } from '../services/services.ts';

type Request = Parameters<typeof getIdentity>[0] & { params: unknown };

/** For the operations below a service: the organization of the caller. Throws if the service is not one of its own. */
export const createOrganizationReader =
  (services: Services) =>
  async (request: Request): Promise<string> => {
    const { organizationId } = getIdentity(request);
    const { serviceId } = request.params as { serviceId: string };
    await services.get(organizationId, serviceId.toLowerCase());
    return organizationId;
  };
