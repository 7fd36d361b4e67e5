import type { WebhookInput } from '../../api/generated.ts';
import type { Channel } from '../../parts/channels/channels.ts';
import { type NameValue, toRecord } from '../../parts/forms/name-values.tsx';

/** State of the form for a channel. */
export interface ChannelDraft {
  service: Channel['service'];
  name: string;
  description: string;
  url: string;
  body: string;
  /** Undefined: those that are stored stay. */
  headers: NameValue[] | undefined;
  queryParams: NameValue[] | undefined;
  routingKey: string;
  to: string[];
  /** Empty: the default. */
  timeoutSeconds: number | '';
}

type Member = 'url' | 'body' | 'headers' | 'queryParams' | 'routingKey' | 'to' | 'timeoutSeconds';

/** The fields of each service. */
const MEMBERS: Readonly<Record<Channel['service'], readonly Member[]>> = {
  generic: ['url', 'body', 'headers', 'queryParams', 'timeoutSeconds'],
  slack: ['url', 'timeoutSeconds'],
  teams: ['url', 'timeoutSeconds'],
  pagerduty: ['routingKey', 'url', 'timeoutSeconds'],
  email: ['to'],
  incidentio: ['url', 'body', 'headers', 'queryParams', 'timeoutSeconds'],
};

export const hasMember = ({ service }: Pick<ChannelDraft, 'service'>, member: Member): boolean =>
  MEMBERS[service].includes(member);

export const createChannelDraft = (channel?: Channel): ChannelDraft => ({
  service: channel?.service ?? 'generic',
  name: channel?.name ?? '',
  description: channel?.description ?? '',
  url: channel?.url ?? '',
  body: channel?.body ?? '',
  headers: channel ? undefined : [],
  queryParams: channel ? undefined : [],
  routingKey: '',
  to: channel?.to ?? [],
  timeoutSeconds: channel?.timeoutSeconds ?? '',
});

/** Empty members are left out: the server says which ones are required, and keeps secrets that are not sent. */
export function toChannelBody(draft: ChannelDraft): WebhookInput {
  const has = (member: Member) => hasMember(draft, member);
  const { headers, queryParams } = draft;
  return {
    name: draft.name,
    service: draft.service,
    ...(draft.description.trim() === '' ? {} : { description: draft.description.trim() }),
    ...(has('url') && draft.url.trim() !== '' ? { url: draft.url.trim() } : {}),
    ...(has('body') && draft.body.trim() !== '' ? { body: draft.body } : {}),
    ...(has('headers') && headers ? { headers: toRecord(headers) } : {}),
    ...(has('queryParams') && queryParams ? { queryParams: toRecord(queryParams) } : {}),
    ...(has('routingKey') && draft.routingKey !== '' ? { routingKey: draft.routingKey } : {}),
    ...(has('to') && draft.to.length > 0 ? { to: draft.to } : {}),
    ...(has('timeoutSeconds') && draft.timeoutSeconds !== '' ? { timeoutSeconds: draft.timeoutSeconds } : {}),
  };
}
