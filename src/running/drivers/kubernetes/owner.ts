import { AppError } from '../../../kernel/errors.ts';
import { formatPlace, type KubernetesOptions } from '../../../management/services/driver.ts';
import type { Metadata } from './resource.ts';
import { parseTaskId } from './task-id.ts';

/** The control plane and the service that drive a resource, with a slash between. An administrator may set or remove it. */
export const OWNER_ANNOTATION = 'pilothouse.dev/owner';

/** What writes to a resource. */
export interface Owner {
  controlPlaneId: string;
  serviceId: string;
}

interface Owned {
  metadata: Metadata;
  spec: { taskID?: string };
}

export const formatOwner = ({ controlPlaneId, serviceId }: Owner): string => `${controlPlaneId}/${serviceId}`;

/** An installation says it in its task: the Altinity operator copies annotations to pods, which restarts them. */
const findControlPlane = ({ metadata, spec }: Owned): string | undefined =>
  metadata.annotations?.[OWNER_ANNOTATION]?.split('/')[0] ?? parseTaskId(spec.taskID)?.controlPlaneId;

/** Why the resource must not be driven: another control plane does. Within a store, the store knows the owner. */
export function findForeignOwner(
  resource: Owned,
  options: KubernetesOptions,
  owner: Owner | undefined,
): string | undefined {
  const other = findControlPlane(resource);
  if (other === undefined || owner === undefined || other === owner.controlPlaneId) return undefined;
  return `${formatPlace(options)} is driven by another control plane, ${other}. To let this one drive it, remove it there and set its annotation ${OWNER_ANNOTATION} to ${formatOwner(owner)}`;
}

export function checkOwner(resource: Owned, options: KubernetesOptions, owner: Owner | undefined): void {
  const obstacle = findForeignOwner(resource, options, owner);
  if (obstacle !== undefined) throw new AppError('conflict', obstacle);
}
