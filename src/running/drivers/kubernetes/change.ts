import { AppError } from '../../../kernel/errors.ts';
import type { Desired } from '../../../management/services/driver.ts';
import type { ApiRequest } from './api-request.ts';
import type { createPatch } from './json-patch.ts';
import { findMember } from './json-patch.ts';
import { formatMemory, isSameMemory, parseBytes, toMemoryGb } from './quantity.ts';

/** A member of a service that a plan changes. */
export interface Difference {
  member: 'state' | 'replicas' | 'memoryGb';
  /** Left out if the resource does not say. */
  before?: string | number;
  after: string | number;
}

/** The requests that bring a resource to what is desired. Empty: there is nothing to do. */
export interface Change {
  requests: ApiRequest[];
  differences: Difference[];
}

/** A desired state without `deleted`. */
export type DesiredResource = Desired & { state: Exclude<Desired['state'], 'deleted'> };

/** Zero replicas pass the validation of both resources and are dangerous: the official operator then runs three. */
export function checkSize({ replicas, memoryGb }: Desired): void {
  if (!Number.isInteger(replicas) || replicas < 1 || !(memoryGb > 0))
    throw new AppError(
      'bad_request',
      `A service needs at least one replica and memory; it has ${replicas} × ${memoryGb} GB`,
    );
}

/** Sets the memory of a container, as request and limit, so that the pod is never removed for using what it was given. */
export function setMemory(
  patch: ReturnType<typeof createPatch>,
  object: object,
  path: readonly (string | number)[],
  memoryGb: number,
): Difference[] {
  const quantities = ['requests', 'limits'].map((bound) => [...path, 'resources', bound, 'memory']);
  if (quantities.every((member) => isSameMemory(findMember(object, member), memoryGb))) return [];
  for (const member of quantities) patch.set(member, formatMemory(memoryGb));
  const before = parseBytes(findMember(object, [...path, 'resources', 'limits', 'memory']));
  return [{ member: 'memoryGb', ...(before !== undefined && { before: toMemoryGb(before) }), after: memoryGb }];
}

export const toPatchRequest = (request: ApiRequest, body: unknown): ApiRequest => ({
  ...request,
  query: { ...request.query, fieldManager: 'pilothouse' },
  patch: { contentType: 'application/json-patch+json', body },
});
