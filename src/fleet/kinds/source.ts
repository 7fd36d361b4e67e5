import { deleteSource, listSources, putSource, type Source } from '../../dashboards/store.ts';
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

  fieldsOf: ({ id: _, ...fields }) => fields,
  defaults: () => ({}),
  build: (id, fields) => ({ ...fields, id, name: String(fields.name) }),
  violations: () => [],

  async save(tx, pairs, { organization }) {
    for (const { after } of pairs) await putSource(tx, organization.id, after);
  },

  remove: (tx, source, { organization }) => deleteSource(tx, organization.id, source.id),
};
