import type { SourceBody } from '../../../observability/sources/schema.ts';
import type { Source } from '../../../observability/sources/source.ts';
import { isBuiltIn, listSourceViolations, normalizeSource } from '../../../observability/sources/source-rules.ts';
import { deleteSource, listSources, putSource } from '../../../observability/sources/store.ts';
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
  build: (id, fields) => normalizeSource(id, fields as SourceBody),

  violations: ({ id, after }) => [
    ...(isBuiltIn(id) ? [{ path: 'id', rule: 'This is the id of a built-in source', value: id }] : []),
    ...listSourceViolations(after as SourceBody),
  ],

  async save(tx, pairs, { organization }) {
    for (const { after } of pairs) await putSource(tx, organization.id, after);
  },

  remove: (tx, source, { organization }) => deleteSource(tx, organization.id, source.id),
};
