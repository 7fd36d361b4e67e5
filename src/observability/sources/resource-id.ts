import Type from 'typebox';

/** Ids of dashboards and sources: 24 hex characters when the server creates them, or any id that matches when a file sets it (D3). */
export const isResourceId = (id: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(id);

export const ResourceId = Type.Refine(
  Type.String(),
  (id) => typeof id !== 'string' || isResourceId(id),
  () => 'The value must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -',
);

export const ResourcePath = Type.Object({ id: Type.String() });
