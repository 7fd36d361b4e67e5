import { isDeepStrictEqual } from 'node:util';
import type { Violation } from '../../kernel/errors.ts';
import { DAY_MS, MINUTE_MS } from '../../kernel/time/clock.ts';
import { findZone } from '../../kernel/time/zone.ts';
import { findTemplateViolation } from '../../platform/notifications/template.ts';
import { type AlertContent, parseStart } from './alert.ts';
import type { AlertBody, AlertChannel } from './alert-schema.ts';
import { INTERVALS } from './windows.ts';

const OWN_DEFAULTS = {
  metric: null,
  condition: null,
  pendingMinutes: 0,
  keepFiringMinutes: 0,
  repeatMinutes: 240,
  noDataBehavior: 'no_data',
  errorBehavior: 'error',
  evaluationDelaySeconds: 15,
  quietHours: null,
  severity: 'error',
  labels: {},
  runbookUrl: null,
  owner: null,
} as const;

/** `null` sets the default, a missing member keeps what `before` has. */
function normalizeOwn(body: AlertBody, before: AlertContent | undefined) {
  const names = Object.keys(OWN_DEFAULTS) as (keyof typeof OWN_DEFAULTS)[];
  return Object.fromEntries(
    names.map((name) => [
      name,
      body[name] === undefined ? (before?.[name] ?? OWN_DEFAULTS[name]) : (body[name] ?? OWN_DEFAULTS[name]),
    ]),
  ) as Pick<AlertContent, keyof typeof OWN_DEFAULTS>;
}

/** The channels of a request; `channel` is the first of them. */
const listChannels = ({ channel, channels }: AlertBody): AlertChannel[] =>
  channels && channels.length > 0 ? channels : channel ? [channel] : [];

/** What an alert watches; the members of other sources are not kept. */
function normalizeSource(body: AlertBody) {
  const source = body.source ?? 'saved_search';
  const hasGroups = source === 'saved_search' || source === 'metric';
  const groupBy = body.groupBy?.trim() === '' ? null : body.groupBy;
  return {
    source,
    savedSearchId: (source === 'saved_search' && body.savedSearchId) || null,
    groupBy: (hasGroups && groupBy) || null,
    dashboardId: (source === 'tile' && body.dashboardId) || null,
    tileId: (source === 'tile' && body.tileId) || null,
    ...(source !== 'metric' && { metric: null }),
    ...(source !== 'condition' && { condition: null }),
  };
}

/** A start sets the offset to 0; without both, what was set before stays. */
function normalizeSchedule(body: AlertBody, before: AlertContent | undefined) {
  const isSent = body.scheduleStartAt !== undefined || body.scheduleOffsetMinutes !== undefined;
  const sent = isSent ? body : (before ?? body);
  const scheduleStartAt = (body.scheduleStartAt === undefined ? before : body)?.scheduleStartAt ?? null;
  return { scheduleStartAt, scheduleOffsetMinutes: scheduleStartAt === null ? (sent.scheduleOffsetMinutes ?? 0) : 0 };
}

/** As the public interface: some omitted members are cleared, others keep their value. */
export function normalizeAlert(body: AlertBody, before?: AlertContent): AlertContent {
  return {
    interval: body.interval,
    threshold: body.threshold,
    thresholdType: body.thresholdType,
    thresholdMax: (body.thresholdMax === undefined ? before : body)?.thresholdMax ?? null,
    channels: listChannels(body),
    name: body.name ?? null,
    message: body.message ?? null,
    note: body.note ?? null,
    numConsecutiveWindows: body.numConsecutiveWindows ?? null,
    ...normalizeSchedule(body, before),
    ...normalizeOwn(body, before),
    ...normalizeSource(body),
  };
}

const YEAR_MS = 366 * DAY_MS;
const required = (path: string, source: string): Violation => ({
  path,
  rule: `The value is required for alerts with the source ${source}`,
  value: undefined,
});

export function listAlertViolations(body: AlertBody, content: AlertContent, nowMs: number): Violation[] {
  return [
    ...listSourceViolations(content),
    ...listThresholdViolations(content),
    ...listChannelViolations(body),
    ...listScheduleViolations(body, content, nowMs),
    ...listOwnViolations(content),
    ...listTemplateViolations(content),
  ];
}

function listSourceViolations({
  source,
  savedSearchId,
  dashboardId,
  tileId,
  metric,
  condition,
}: AlertContent): Violation[] {
  const members = {
    saved_search: { savedSearchId },
    tile: { dashboardId, tileId },
    metric: { metric },
    condition: { condition },
  }[source];
  return Object.entries(members).flatMap(([name, value]) => (value === null ? [required(name, source)] : []));
}

function listThresholdViolations({ threshold, thresholdMax, thresholdType }: AlertContent): Violation[] {
  if (thresholdType !== 'between' && thresholdType !== 'not_between') return [];
  if (thresholdMax === null)
    return [{ path: 'thresholdMax', rule: `The value is required for ${thresholdType}`, value: undefined }];
  if (thresholdMax < threshold)
    return [{ path: 'thresholdMax', rule: 'The value must not be less than threshold', value: thresholdMax }];
  return [];
}

function listChannelViolations(body: AlertBody): Violation[] {
  const channels = listChannels(body);
  const ids = channels.map(({ webhookId }) => webhookId);
  if (new Set(ids).size < ids.length)
    return [{ path: 'channels', rule: 'A channel must not be listed twice', value: undefined }];
  if (body.channel && body.channels && !isDeepStrictEqual(body.channel, channels[0]))
    return [{ path: 'channel', rule: 'The value must be the first of channels', value: body.channel.webhookId }];
  return [];
}

export const listOffsetViolations = ({
  scheduleStartAt,
  scheduleOffsetMinutes: offset,
}: Pick<AlertBody, 'scheduleStartAt' | 'scheduleOffsetMinutes'>): Violation[] =>
  scheduleStartAt && offset
    ? [{ path: 'scheduleOffsetMinutes', rule: 'The value must be 0 if scheduleStartAt is set', value: offset }]
    : [];

function listScheduleViolations(
  { scheduleOffsetMinutes: sentOffset }: AlertBody,
  { interval, scheduleOffsetMinutes, scheduleStartAt }: AlertContent,
  nowMs: number,
): Violation[] {
  const violations = listOffsetViolations({ scheduleStartAt, scheduleOffsetMinutes: sentOffset });
  if (violations.length > 0) return violations;
  if ((scheduleOffsetMinutes ?? 0) * MINUTE_MS >= INTERVALS[interval])
    return [
      {
        path: 'scheduleOffsetMinutes',
        rule: `The value must be less than the interval ${interval}`,
        value: scheduleOffsetMinutes,
      },
    ];
  const startMs = scheduleStartAt === null ? nowMs : parseStart(scheduleStartAt);
  if (startMs === undefined || startMs < nowMs - 10 * YEAR_MS || startMs > nowMs + YEAR_MS)
    return [
      {
        path: 'scheduleStartAt',
        rule: 'The value must be a time from 10 years ago to one year ahead',
        value: scheduleStartAt,
      },
    ];
  return [];
}

function listOwnViolations({ quietHours, runbookUrl }: AlertContent): Violation[] {
  const violations: Violation[] = [];
  if (quietHours && !findZone(quietHours.timezone))
    violations.push({
      path: 'quietHours.timezone',
      rule: 'Unknown time zone; use an IANA name such as Europe/Berlin',
      value: quietHours.timezone,
    });
  if (runbookUrl !== null && !(URL.canParse(runbookUrl) && /^https?:$/.test(new URL(runbookUrl).protocol)))
    violations.push({ path: 'runbookUrl', rule: 'The value must be an http or https URL', value: runbookUrl });
  return violations;
}

const listTemplateViolations = ({ name, message }: AlertContent): Violation[] =>
  Object.entries({ name, message }).flatMap(([path, template]) => {
    const rule = template === null ? undefined : findTemplateViolation(template);
    return rule === undefined ? [] : [{ path, rule, value: template }];
  });
