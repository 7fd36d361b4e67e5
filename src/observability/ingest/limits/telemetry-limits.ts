import { rejectViolations } from '../../../kernel/errors.ts';
import { type Actor, difference } from '../../../management/audit/activity.ts';
import type { Audit } from '../../../management/audit/audit.ts';
import {
  type Organization,
  TELEMETRY_LIMITS,
  TELEMETRY_SIGNALS,
  type TelemetryLimit,
  type TelemetryLimits,
  type TelemetrySignal,
} from '../../../management/organizations/organization.ts';
import type { Organizations } from '../../../management/organizations/organizations.ts';
import type { State } from '../../../platform/state/state.ts';

/** Of the server; a limit that is absent does not exist. */
export type ServerLimits = Partial<Record<TelemetryLimit, number | undefined>>;

/** What applies to a signal; a limit that is absent does not exist. */
export type EffectiveLimits = { readonly [limit in TelemetryLimit]?: number };

/** A limit that is null is that of the server; one that is omitted keeps its value. */
type LimitFields = {
  readonly [signal in TelemetrySignal]?: { readonly [limit in TelemetryLimit]?: number | null | undefined } | undefined;
};

interface Options {
  state: State;
  audit: Audit;
  organizations: Organizations;
  maximum: ServerLimits;
}

export type TelemetryLimitSettings = ReturnType<typeof createTelemetryLimits>;

const LIMIT_NAMES = Object.keys(TELEMETRY_LIMITS) as TelemetryLimit[];

export const listLimits = (signal: TelemetrySignal): TelemetryLimit[] =>
  LIMIT_NAMES.filter((limit) => TELEMETRY_LIMITS[limit].some((one) => one === signal));

/** What an organization may send: as much as the server allows each organization, or less. */
export function createTelemetryLimits({ state, audit, organizations, maximum }: Options) {
  const apply = (own: TelemetryLimits, signal: TelemetrySignal): EffectiveLimits =>
    Object.fromEntries(
      listLimits(signal).flatMap((limit) => {
        const both = [own[signal]?.[limit], maximum[limit]].filter((value) => value !== undefined);
        return both.length === 0 ? [] : [[limit, Math.min(...both)]];
      }),
    );

  const applyAll = (own: TelemetryLimits) =>
    Object.fromEntries(TELEMETRY_SIGNALS.map((signal) => [signal, apply(own, signal)])) as Record<
      TelemetrySignal,
      EffectiveLimits
    >;

  const listViolations = (fields: LimitFields) =>
    TELEMETRY_SIGNALS.flatMap((signal) =>
      listLimits(signal)
        .filter((limit) => (fields[signal]?.[limit] ?? 0) > (maximum[limit] ?? Number.POSITIVE_INFINITY))
        .map((limit) => ({
          path: `${signal}.${limit}`,
          rule: `The value must be at most ${maximum[limit]}, the limit of the server`,
          value: fields[signal]?.[limit],
        })),
    );

  return {
    maximum,

    apply: (organization: Organization, signal: TelemetrySignal): EffectiveLimits =>
      apply(organization.telemetryLimits, signal),

    get: async (organizationId: string) => applyAll((await organizations.get(organizationId)).telemetryLimits),

    /** Omitted limits keep their value; null removes one. */
    async update(actor: Actor, organizationId: string, fields: LimitFields) {
      rejectViolations(listViolations(fields));
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const organization = await organizations.get(organizationId, tx);
        const before = organization.telemetryLimits;
        const after = merge(before, fields, applyAll(before));
        const changed = difference(before, after);
        if (Object.keys({ ...changed.before, ...changed.after }).length > 0) {
          await organizations.update(tx, { ...organization, telemetryLimits: after });
          await audit.record(tx, actor, {
            organizationId,
            type: 'telemetry_limits_update',
            resource: { type: 'organization', id: organizationId },
            ...changed,
          });
        }
        return applyAll(after);
      });
    },
  };
}

/** `applied`: what a client reads. One that returns it does not set the limits of the server for good. */
function merge(before: TelemetryLimits, fields: LimitFields, applied: Record<TelemetrySignal, EffectiveLimits>) {
  const after: TelemetryLimits = {};
  for (const signal of TELEMETRY_SIGNALS) {
    const kept = listLimits(signal).flatMap((limit) => {
      const field = fields[signal]?.[limit];
      const isKept = field === undefined || field === applied[signal][limit];
      const value = isKept ? before[signal]?.[limit] : field;
      return value ? [[limit, value] as const] : [];
    });
    if (kept.length > 0) after[signal] = Object.fromEntries(kept);
  }
  return after;
}
