import type { SourceBody } from '../../sources/schema.ts';
import type { Source } from '../../sources/source.ts';
import { completedSource, isBuiltIn, sourceViolations } from '../../sources/source-rules.ts';
import { deleteSource, listSources, putSource } from '../../sources/store.ts';
import type { Kind } from './kind.ts';

export const sourceKind: Kind<Source> = {
  name: 'source',
  activities: {
    create: 'dashboard_source_create',
    update: () => 'dashboard_source_update',
    remove: 'dashboard_source_delete',
  },

  async load(tx, organizationId) {
    return new Map((await listSources(tx, organizationId)).map((source) => [source.id, source]));
  },

  toFields: ({ id: _, ...fields }) => fields,
  defaults: () => ({}),
  build: (id, fields) => completedSource(id, fields as SourceBody),

  violations: ({ id, after }) => [
    ...(isBuiltIn(id) ? [{ path: 'id', rule: 'This is the id of a built-in source', value: id }] : []),
    ...sourceViolations(after as SourceBody),
  ],

  async save(tx, pairs, { organization }) {
    for (const { after } of pairs) await putSource(tx, organization.id, after);
  },

  remove: (tx, source, { organization }) => deleteSource(tx, organization.id, source.id),
};
