import { getActor } from '../../../management/audit/request-actor.ts';
import { ServicePath } from '../../../management/services/schema.ts';
import type { Services } from '../../../management/services/services.ts';
import { clickStackResource } from '../../../platform/http/requests/clickstack-resource.ts';
import { createSavedSearchEtag, toRecord } from './saved-search.ts';
import { SavedSearchBody, SavedSearchRecord } from './saved-search-schema.ts';
import type { SavedSearches } from './saved-searches.ts';

export const clickStackSavedSearchRoutes = ({
  savedSearches,
  services,
}: {
  savedSearches: SavedSearches;
  services: Services;
}) =>
  clickStackResource({
    ...savedSearches,
    management: { services, servicePath: ServicePath, getActor },
    plural: 'saved-searches',
    singular: 'saved search',
    body: SavedSearchBody,
    record: SavedSearchRecord,
    descriptions: {
      list: 'The saved searches of the organization, ordered by id.',
      update: 'Replaces everything: omitted members get their default.',
    },
    createEtag: createSavedSearchEtag,
    toRecord,
  });
