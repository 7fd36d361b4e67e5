import { validateHeaderName } from 'node:http';
import type { Violation } from '../../kernel/errors.ts';
import { createWeakEtag } from '../../kernel/etag.ts';
import { hasControls } from '../../kernel/text.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';
import { isMailAddress } from '../../platform/notifications/senders/email.ts';
import { PAGERDUTY_URL } from '../../platform/notifications/senders/pagerduty.ts';
import type { Service, Target } from '../../platform/notifications/senders/target.ts';
import { findTemplateViolation } from '../../platform/notifications/template.ts';
import { findUrlViolation, getHost } from '../../platform/webhooks/webhook.ts';

/** Where notifications go. The interface calls it a webhook. The document is stored with its secrets. */
export interface Channel {
  id: string;
  organizationId: string;
  content: ChannelContent;
  createdAt: number;
  updatedAt: number;
}

/** What a client sends. */
export interface ChannelContent {
  service: Service;
  name: string;
  description?: string | undefined;
  url?: string | undefined;
  /** A template. */
  body?: string | undefined;
  /** Secrets. */
  headers?: Record<string, string> | undefined;
  queryParams?: Record<string, string> | undefined;
  routingKey?: string | undefined;
  signingSecret?: string | undefined;
  timeoutSeconds?: number | undefined;
  /** Addresses of a mail. */
  to?: string[] | undefined;
}

const CONTENT = [
  ...(['service', 'name', 'description', 'url', 'body'] as const),
  ...(['headers', 'queryParams', 'routingKey', 'to', 'timeoutSeconds'] as const),
];

/** Without other members of a request, such as those that only responses have. */
export const pickContent = (given: ChannelContent): ChannelContent =>
  Object.fromEntries(
    CONTENT.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  ) as unknown as ChannelContent;

/** Of the time of the last change: a tag of the contents would reveal something about short secrets. */
export const createChannelEtag = ({ id, updatedAt }: Channel): string => createWeakEtag({ id, updatedAt });

/** The members that only some services have. */
const MEMBERS: Readonly<Record<Service, readonly (keyof ChannelContent)[]>> = {
  slack: ['url', 'timeoutSeconds'],
  generic: ['url', 'body', 'headers', 'queryParams', 'timeoutSeconds'],
  incidentio: ['url', 'body', 'headers', 'queryParams', 'timeoutSeconds'],
  teams: ['url', 'timeoutSeconds'],
  pagerduty: ['url', 'routingKey', 'timeoutSeconds'],
  email: ['to'],
};
const SPECIAL_MEMBERS = ['url', 'body', 'headers', 'queryParams', 'routingKey', 'to', 'timeoutSeconds'] as const;
const REQUIRED: Readonly<Record<Service, readonly (keyof ChannelContent)[]>> = {
  slack: ['url'],
  generic: ['url'],
  incidentio: ['url'],
  teams: ['url'],
  pagerduty: ['routingKey'],
  email: ['to'],
};

export const isSigned = (service: Service): boolean => service === 'generic' || service === 'incidentio';

/**
 * What a channel has after `given` replaced `before`. Readable members that are omitted are cleared; secrets that are
 * omitted are kept, unless the address or the service changes: they may not be meant for another receiver.
 */
export function mergeContent(given: ChannelContent, before: ChannelContent): ChannelContent {
  const keep = isSameReceiver(given, before) ? before : undefined;
  return {
    ...given,
    headers: given.headers ?? keep?.headers,
    queryParams: given.queryParams ?? keep?.queryParams,
    routingKey: given.routingKey ?? keep?.routingKey,
    ...(isSigned(given.service) && { signingSecret: before.signingSecret }),
  };
}

export const isSameReceiver = (one: ChannelContent, other: ChannelContent): boolean =>
  one.service === other.service && getUrl(one) === getUrl(other);

interface Rules {
  /** Allows loopback and private addresses. */
  allowPrivate: boolean;
  /** Mail can be sent. */
  hasMail: boolean;
}

/** All rules that the schema does not have. */
export function listViolations(content: ChannelContent, rules: Rules): Violation[] {
  const violations = listMemberViolations(content);
  if (violations.length > 0) return violations;
  const { service, url, body, headers = {}, queryParams = {}, to = [] } = content;
  return [
    ...(service === 'email' && !rules.hasMail ? [{ path: 'service', rule: NO_MAIL, value: service }] : []),
    ...toViolations('url', url, url && findChannelUrlViolation(url, service, rules)),
    ...toViolations('body', body, body && findTemplateViolation(body)),
    ...Object.entries(headers).flatMap(([name, value]) =>
      toViolations(`headers.${name.slice(0, MAX_SHOWN_CHARACTERS)}`, value, findHeaderViolation(name, value)),
    ),
    ...Object.entries(queryParams)
      .filter(([name, value]) => name === '' || hasControls(name) || hasControls(value))
      .flatMap(([, value]) => toViolations('queryParams', value, QUERY_RULE)),
    ...to.flatMap((value, index) =>
      isMailAddress(value) ? [] : [{ path: `to[${index}]`, rule: 'The value must be an e-mail address', value }],
    ),
  ];
}

const NO_MAIL = 'The server has no mail server: set --smtp-url and --smtp-from';
const QUERY_RULE = 'Names must not be empty, and names and values must have no control characters';

/** The value may be a secret. */
const toViolations = (path: string, value: unknown, rule: string | undefined): Violation[] =>
  rule ? [{ path, rule, value, secret: true }] : [];

function listMemberViolations(content: ChannelContent): Violation[] {
  const { service, name } = content;
  const surplus = SPECIAL_MEMBERS.filter((member) => content[member] !== undefined).filter(
    (member) => !MEMBERS[service].includes(member),
  );
  const missing = REQUIRED[service].filter((member) => content[member] === undefined);
  return [
    ...(name.trim() === '' ? [{ path: 'name', rule: 'The value must not be blank', value: name }] : []),
    ...surplus.flatMap((path) =>
      toViolations(path, content[path], `A webhook of the service ${service} has no ${path}`),
    ),
    ...missing.map((path) => ({ path, rule: 'The value is required', value: undefined })),
  ];
}

const MAX_SHOWN_CHARACTERS = 64;

/** The connection and the signature are ours. */
const OWN_HEADERS =
  /^(host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|idempotency-key|proxy-.*|webhook-.*|x-pilothouse-.*)$/i;

function findHeaderViolation(name: string, value: string): string | undefined {
  try {
    validateHeaderName(name);
  } catch {
    return 'The name must be a valid name of an HTTP header';
  }
  if (OWN_HEADERS.test(name)) return 'The server sets this header itself';
  // Node sends headers as Latin-1.
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value) ? undefined : 'The value must have no control characters';
}

function findChannelUrlViolation(url: string, service: Service, { allowPrivate }: Rules): string | undefined {
  const violation = findUrlViolation(url, { allowPrivate });
  if (violation !== undefined) return violation;
  // Where private addresses are allowed, chat programs with the same interface are as well.
  const isSlack = /(^|\.)slack\.com$/.test(getHost(new URL(url)));
  return service === 'slack' && !isSlack && !allowPrivate
    ? 'The host must be slack.com or end in .slack.com'
    : undefined;
}

const getUrl = ({ service, url }: ChannelContent): string | undefined =>
  service === 'pagerduty' ? (url ?? PAGERDUTY_URL) : url;

export function toTarget(content: ChannelContent): Target {
  const { service, body, headers, queryParams, routingKey, signingSecret: secret, to = [] } = content;
  if (service === 'email') return { service, to };
  const timeoutMs = (content.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * SECOND_MS;
  return { service, url: getUrl(content) ?? '', secret, headers, queryParams, body, routingKey, timeoutMs };
}

/** Receivers that first do their work and then answer take a few seconds. */
export const DEFAULT_TIMEOUT_SECONDS = 10;
/** Less than the minute after which another node may send the message. */
export const MAX_TIMEOUT_SECONDS = 30;

/** For the audit log: no secrets, and of the address only the origin, because its path often contains one. */
export const toAuditRecord = ({
  service,
  name,
  description,
  url,
  headers,
  queryParams,
  to,
  timeoutSeconds,
}: ChannelContent) => ({
  service,
  name,
  description,
  url: url === undefined ? undefined : new URL(url).origin,
  headers: headers && Object.keys(headers),
  queryParams: queryParams && Object.keys(queryParams),
  to,
  timeoutSeconds,
});
