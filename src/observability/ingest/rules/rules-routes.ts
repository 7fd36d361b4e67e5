import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { ADMINS, READERS } from '../../../kernel/access/roles.ts';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { getActor } from '../../../management/audit/request-actor.ts';
import {
  RULE_ACTIONS,
  RULE_LANGUAGES,
  TELEMETRY_SIGNALS,
  type TelemetryRule,
} from '../../../management/organizations/organization.ts';
import { MAX_TELEMETRY_RULES, OrganizationPath, TelemetryRuleInput } from '../../../management/organizations/schema.ts';
import { getIdentity } from '../../../platform/http/guard.ts';
import { IfMatch } from '../../../platform/http/requests/if-match.ts';
import type { Routes } from '../../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../../platform/http/responses/envelopes.ts';
import { normalizeRule } from './rule.ts';
import { createRulesEtag, type TelemetryRules } from './telemetry-rules.ts';

const tags = ['OpenTelemetry'];
const PATH = '/v1/organizations/:organizationId/telemetryRules';

const RulesRecord = NamedObject('TelemetryRules', {
  rules: Type.Array(
    NamedObject('TelemetryRule', {
      name: Type.String(),
      signal: Type.Enum([...TELEMETRY_SIGNALS]),
      where: Type.String(),
      whereLanguage: Type.Enum([...RULE_LANGUAGES]),
      action: Type.Enum([...RULE_ACTIONS]),
      keepPercent: Type.Optional(Type.Number()),
      enabled: Type.Boolean(),
    }),
    { description: 'In the order in which they apply: the first one whose condition is true decides' },
  ),
});

const RulesBody = NamedObject(
  'TelemetryRulesPutRequest',
  { rules: Type.Array(TelemetryRuleInput, { maxItems: MAX_TELEMETRY_RULES }) },
  { additionalProperties: false },
);

export function rulesRoutes({ telemetryRules }: { telemetryRules: TelemetryRules }): Routes {
  return (app) => {
    app.get(
      PATH,
      {
        config: { operation: 'telemetryRulesGet', roles: READERS },
        schema: {
          tags,
          summary: 'Get telemetry rules',
          description: 'The rules that drop or sample received telemetry. What they dropped is in the telemetry usage.',
          params: OrganizationPath,
          response: managementResponse(RulesRecord),
        },
      },
      async (request, reply) => send(request, reply, await telemetryRules.get(getIdentity(request).organizationId)),
    );

    app.put(
      PATH,
      {
        config: { operation: 'telemetryRulesUpdate', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update telemetry rules',
          description:
            'Replaces all rules. They apply to the next request. With If-Match, fails with 412 if the rules have changed.',
          params: OrganizationPath,
          headers: IfMatch,
          body: RulesBody,
          response: managementResponse(RulesRecord),
        },
      },
      async (request, reply) => {
        const { organizationId } = getIdentity(request);
        const rules = request.body.rules.map(normalizeRule);
        const ifMatch = request.headers['if-match'];
        return send(request, reply, await telemetryRules.replace(getActor(request), organizationId, rules, ifMatch));
      },
    );
  };
}

function send(request: FastifyRequest, reply: FastifyReply, rules: TelemetryRule[]) {
  reply.header('etag', createRulesEtag(rules));
  return success(request, { rules } satisfies Static<typeof RulesRecord>);
}
