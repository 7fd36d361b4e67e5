import Type, { type Static } from 'typebox';
import { isHexId } from '../../kernel/ids.ts';
import { StorableText } from '../../kernel/schemas/storable-text.ts';
import { WebhookBody } from '../../management/notifications/schema.ts';
import { AlertBody, MAX_CHANNELS } from '../../observability/alerts/alert-schema.ts';
import { SavedSearchBody } from '../../observability/search/saved/saved-search-schema.ts';
import { ResourceId } from '../../observability/sources/resource-id.ts';
import { isStandardSecret } from '../../platform/webhooks/signed-requests.ts';

const exact = { additionalProperties: false };

const refined = (isValid: (text: string) => boolean, rule: string) =>
  Type.Refine(
    Type.String({ maxLength: 1024 }),
    (value) => typeof value !== 'string' || isValid(value),
    () => rule,
  );

/** Where notifications go: what the API calls a webhook. Secrets that are left out keep their value. */
export const ChannelSpec = Type.Object(
  {
    id: Type.Optional(refined(isHexId, 'The value must have 24 hexadecimal digits')),
    ...WebhookBody.properties,
    signingSecret: Type.Optional(refined(isStandardSecret, 'The value must be whsec_ and 24 to 64 bytes in base64')),
  },
  exact,
);

export const SavedSearchSpec = Type.Object({ id: Type.Optional(ResourceId), ...SavedSearchBody.properties }, exact);

const {
  savedSearchId: _,
  dashboardId: __,
  tileId: ___,
  channel: ____,
  channels: _____,
  ...members
} = AlertBody.properties;
/** By name, or by id. */
const Reference = StorableText({ minLength: 1, maxLength: 1024 });

export const AlertSpec = Type.Object(
  {
    id: Type.Optional(ResourceId),
    ...members,
    savedSearch: Type.Optional(Reference),
    dashboard: Type.Optional(Reference),
    tile: Type.Optional(Reference),
    channels: Type.Optional(Type.Array(Reference, { maxItems: MAX_CHANNELS })),
  },
  exact,
);

/** The members of an organization that alerts need. */
export const ALERTING_MEMBERS = {
  channels: Type.Optional(Type.Array(ChannelSpec)),
  savedSearches: Type.Optional(Type.Array(SavedSearchSpec)),
  alerts: Type.Optional(Type.Array(AlertSpec)),
};

export type ChannelSpec = Static<typeof ChannelSpec>;
export type SavedSearchSpec = Static<typeof SavedSearchSpec>;
export type AlertSpec = Static<typeof AlertSpec>;
