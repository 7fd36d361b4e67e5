import { cutText } from '../../kernel/text.ts';
import { isoTime } from '../../kernel/time/clock.ts';
import type { Message, MessageKind } from '../../platform/notifications/message.ts';
import { renderTemplate } from '../../platform/notifications/template.ts';
import type { Alert } from './alert.ts';
import type { ThresholdType } from './alert-schema.ts';
import { isBreach } from './judgment.ts';

/** What an alert watches, for people. */
export interface Subject {
  /** Of the saved search, tile, metric or condition. */
  name: string;
  /** In the console, relative to its address. */
  path: string;
}

interface MessageInput {
  alert: Alert;
  subject: Subject;
  kind: MessageKind;
  /** Identifies the incident. */
  eventId: string;
  groupBy: readonly string[];
  labels: readonly string[];
  value: number | null;
  window: { startMs: number; endMs: number };
  /** Instead of the value: why the alert could not be evaluated, or how many groups are not listed. */
  detail?: string | undefined;
  samples?: readonly string[] | undefined;
  consoleUrl: string | undefined;
}

const SIGNS: Record<ThresholdType, string> = {
  above: '≥',
  below: '<',
  above_exclusive: '>',
  below_or_equal: '≤',
  equal: '=',
  not_equal: '≠',
  between: 'between',
  not_between: 'not between',
};
const KIND_TITLES: Record<MessageKind, string> = {
  firing: 'Firing',
  resolved: 'Resolved',
  no_data: 'No data',
  failed: 'Cannot be evaluated',
  acknowledged: 'Acknowledged',
  test: 'Test',
};
const MAX_TITLE = 512;
const MAX_BODY = 16_384;

const formatThreshold = ({ threshold, thresholdMax, thresholdType }: Alert['content']): string =>
  `${SIGNS[thresholdType]} ${thresholdMax !== null && thresholdType.endsWith('between') ? `${threshold} and ${thresholdMax}` : threshold}`;

const formatWithRule = (value: number | null, content: Alert['content']): string =>
  `${formatValue(value)} (fires if ${formatThreshold(content)})`;

/** "12 ≥ 10" if that is true, otherwise "8 (fires if ≥ 10)". */
export const formatMeasured = (value: number | null, content: Alert['content']): string =>
  value !== null && isBreach(content, value)
    ? `${formatValue(value)} ${formatThreshold(content)}`
    : formatWithRule(value, content);

const formatGroup = (groupBy: readonly string[], labels: readonly string[]): string =>
  labels.map((label, index) => `${groupBy[index] ?? ''}:${label}`).join(', ');

/** The name that people see. It may be a template; `render` then fills it in. */
const getName = ({ content }: Alert, { name }: Subject): string => content.name ?? name;

export function buildMessage(input: MessageInput): Message {
  const { alert, kind, eventId, labels, value, window, groupBy } = input;
  const { severity, runbookUrl } = alert.content;
  const group = formatGroup(groupBy, labels);
  const attributes = Object.fromEntries(labels.map((label, index) => [groupBy[index] ?? String(index), label]));
  const link = input.consoleUrl === undefined ? undefined : input.consoleUrl + input.subject.path;
  const context = createContext(input, group, attributes, link);
  const name = render(getName(alert, input.subject), context);
  const what = input.detail ?? formatMeasured(value, alert.content);
  return {
    kind,
    eventId,
    title: cutText(`${KIND_TITLES[kind]}: ${name}${group === '' ? '' : ` (${group})`}: ${what}`, MAX_TITLE),
    body: cutText(listLines(input, group, context).join('\n'), MAX_BODY),
    ...(link !== undefined && { link }),
    ...(runbookUrl !== null && { runbook: runbookUrl }),
    severity: severity ?? 'error',
    startTime: window.startMs,
    endTime: window.endMs,
    name,
    ...(group !== '' && { group, attributes }),
    labels: alert.content.labels ?? {},
    value,
    threshold: formatThreshold(alert.content),
  };
}

/** A template that exceeds its limits is sent as it is: an alert must not be lost because of its text. */
function render(template: string, context: object): string {
  try {
    return renderTemplate(template, context);
  } catch {
    return template;
  }
}

/** What templates see. */
function createContext(
  { alert: { id, content }, subject, kind, value, window }: MessageInput,
  group: string,
  attributes: Record<string, string>,
  link: string | undefined,
) {
  return {
    alert: { ...content, id, state: kind === 'firing' ? 'ALERT' : 'OK' },
    attributes: nest(attributes),
    savedSearch: content.source === 'saved_search' ? { name: subject.name, id: content.savedSearchId } : undefined,
    dashboard: content.source === 'tile' ? { name: subject.name, id: content.dashboardId } : undefined,
    group,
    value,
    threshold: content.threshold,
    labels: content.labels ?? {},
    startTime: isoTime(window.startMs),
    endTime: isoTime(window.endMs),
    granularity: content.interval,
    link,
  };
}

function listLines(input: MessageInput, group: string, context: object): string[] {
  const { alert, kind, value, window, detail = '', samples = [] } = input;
  const { message, runbookUrl } = alert.content;
  return [
    ...(message === null ? [] : [render(message, context)]),
    ...(group === '' ? [] : [`Group: ${group}`]),
    kind === 'failed' ? `Reason: ${detail}` : `Value: ${formatWithRule(value, alert.content)}`,
    `Window: ${isoTime(window.startMs)} to ${isoTime(window.endMs)}`,
    ...(runbookUrl === null ? [] : [`Runbook: ${runbookUrl}`]),
    ...(samples.length === 0 ? [] : ['', 'Newest rows:', ...samples]),
  ];
}

/** `{"a.b": 1}` also as `{a: {b: 1}}`, as templates of the public interface name attributes. */
function nest(attributes: Record<string, string>): Record<string, unknown> {
  const nested: Record<string, unknown> = Object.assign(Object.create(null), attributes);
  for (const [name, value] of Object.entries(attributes)) {
    const parts = name.split('.');
    let place = nested;
    for (const part of parts.slice(0, -1)) {
      const next = place[part];
      place[part] = typeof next === 'object' && next !== null ? next : Object.create(null);
      place = place[part] as Record<string, unknown>;
    }
    const last = parts.at(-1) ?? '';
    if (place[last] === undefined) place[last] = value;
  }
  return nested;
}

function formatValue(value: number | null): string {
  if (value === null) return 'no value';
  if (Number.isInteger(value)) return String(value);
  return String(Number(Math.abs(value) < 1000 ? value.toPrecision(4) : value.toFixed(1)));
}
