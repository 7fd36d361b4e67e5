import {
  listFilterViolations,
  listNameViolations,
  normalizeSavedSearch,
  type SavedSearch,
} from '../../../observability/search/saved/saved-search.ts';
import type { SavedSearchBody } from '../../../observability/search/saved/saved-search-schema.ts';
import {
  deleteSavedSearch,
  listSavedSearches,
  putSavedSearch,
} from '../../../observability/search/saved/saved-search-store.ts';
import type { Kind } from './kind.ts';

export const savedSearchKind: Kind<SavedSearch> = {
  name: 'saved_search',
  activities: { create: 'saved_search_create', update: () => 'saved_search_update', remove: 'saved_search_delete' },

  async load(tx, organizationId) {
    return new Map((await listSavedSearches(tx, organizationId)).map((search) => [search.id, search]));
  },

  toFields: ({ content }) => ({ ...content }),
  defaults: () => ({}),

  build: (id, fields, { organization, now }, before) => ({
    id,
    organizationId: organization.id,
    content: normalizeSavedSearch(fields as SavedSearchBody),
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  }),

  violations: ({ before, after: { content } }) => [
    ...listNameViolations(content),
    ...listFilterViolations(content, before?.content.filters),
  ],

  async save(tx, pairs) {
    for (const { after } of pairs) await putSavedSearch(tx, after);
  },

  async remove(tx, { organizationId, id, content }, { actor, alertRemoval }) {
    await alertRemoval.removeOfSavedSearch(tx, actor, organizationId, { id, name: content.name });
    await deleteSavedSearch(tx, organizationId, id);
  },
};
