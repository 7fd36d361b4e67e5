import { rejectViolations } from '../../../kernel/errors.ts';
import { createEtag, rejectStale } from '../../../kernel/etag.ts';
import { type Actor, difference } from '../../../management/audit/activity.ts';
import type { Audit } from '../../../management/audit/audit.ts';
import type { Organization, TelemetryRule, TelemetrySignal } from '../../../management/organizations/organization.ts';
import type { Organizations } from '../../../management/organizations/organizations.ts';
import type { State } from '../../../platform/state/state.ts';
import { listRuleViolations } from './rule.ts';

interface Options {
  state: State;
  audit: Audit;
  organizations: Organizations;
}

export type TelemetryRules = ReturnType<typeof createTelemetryRules>;

export const createRulesEtag = (rules: readonly TelemetryRule[]): string => createEtag(JSON.stringify(rules));

/** The rules of an organization that drop or sample what it receives: an ordered list that is read and replaced as a whole. */
export function createTelemetryRules({ state, audit, organizations }: Options) {
  return {
    /** The enabled rules of a signal; undefined if there are none. */
    apply({ telemetryRules }: Organization, signal: TelemetrySignal): readonly TelemetryRule[] | undefined {
      if (telemetryRules.length === 0) return undefined;
      const enabled = telemetryRules.filter((rule) => rule.enabled && rule.signal === signal);
      return enabled.length > 0 ? enabled : undefined;
    },

    get: async (organizationId: string): Promise<TelemetryRule[]> =>
      (await organizations.get(organizationId)).telemetryRules,

    /** Without `ifMatch` (the header), the last write wins. */
    async replace(
      actor: Actor,
      organizationId: string,
      rules: TelemetryRule[],
      ifMatch: string | undefined,
    ): Promise<TelemetryRule[]> {
      rejectViolations(listRuleViolations(rules, 'rules'));
      return state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        const organization = await organizations.get(organizationId, tx);
        rejectStale('list of rules', ifMatch, [createRulesEtag(organization.telemetryRules)]);
        const changed = difference({ rules: organization.telemetryRules }, { rules });
        if (Object.keys(changed.after).length > 0) {
          await organizations.update(tx, { ...organization, telemetryRules: rules });
          await audit.record(tx, actor, {
            organizationId,
            type: 'telemetry_rules_update',
            resource: { type: 'organization', id: organizationId },
            ...changed,
          });
        }
        return rules;
      });
    },
  };
}
