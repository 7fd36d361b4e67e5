import type { Change } from './activity.ts';

/** Activities that are counted, so that a client that repeats a call does not fill the audit log. */
export const COUNTED_TYPES = {
  calls_refused: 'credential',
  dashboard_link_view: 'dashboard_link',
} as const satisfies Partial<Record<Change['type'], Change['resource']['type']>>;
type CountedType = keyof typeof COUNTED_TYPES;

/** What is counted together. */
export interface CountKey {
  organizationId: string;
  type: CountedType;
  /** The id of the credential or the link. */
  subjectId: string;
  /** Its start. */
  hour: number;
}

export interface HourlyCount extends CountKey {
  name: string;
  /** The kind of the credential. */
  credential?: string | undefined;
  /** How often, by reason. A closed set, so the document is bounded. */
  reasons: Record<string, number>;
  /** The first few. */
  addresses: string[];
}

const MAX_ADDRESSES = 5;

export function mergeCounts(one: HourlyCount, other: HourlyCount): HourlyCount {
  const reasons = { ...one.reasons };
  for (const [reason, count] of Object.entries(other.reasons)) reasons[reason] = (reasons[reason] ?? 0) + count;
  const addresses = [...new Set([...one.addresses, ...other.addresses])].slice(0, MAX_ADDRESSES);
  return { ...one, name: other.name, reasons, addresses };
}
