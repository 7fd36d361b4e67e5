import type { Static } from 'typebox';
import { MAX_PAGE_SIZE } from '../../kernel/page.ts';
import type { ActivityRecord } from '../../management/audit/schema.ts';
import type { Verification } from '../../management/audit/verification.ts';
import type { Organization } from '../../management/organizations/organization.ts';
import type { ChainHead } from '../../platform/state/activity-chain.ts';
import { API_SETTINGS, INVALID, STORE_SETTINGS } from '../../server/settings/settings.ts';
import { type CommandOutput, defineCommand, UsageError } from '../command.ts';
import { getOrganization } from '../context.ts';
import { countRule, jsonOption, option, optionWithDefault, organizationOption, type ValueRule } from '../parameters.ts';

const headRule: ValueRule<ChainHead> = {
  rule: 'must look like 42:<64 hexadecimal digits>, as printed by audit verify',
  parse(text) {
    const [, sequence, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/i.exec(text) ?? [];
    return sequence && hash ? { sequence: Number(sequence), hash: hash.toLowerCase() } : INVALID;
  },
};

const verify = defineCommand({
  name: 'audit verify',
  summary: 'Check that no activity of the audit log was changed, removed or inserted',
  settings: STORE_SETTINGS,
  options: {
    org: option('<id or name>', 'Organization; all organizations if omitted'),
    expectHead: option('<number:hash>', 'A head printed earlier; it must still be part of the chain', headRule),
    json: jsonOption,
  },
  run: ({ withDomains, options: { org, expectHead } }) =>
    withDomains(async (domains) => {
      const organizations =
        org === undefined ? await domains.organizations.list() : [await getOrganization(domains, org)];
      if (expectHead && organizations.length !== 1)
        throw new UsageError(['--expect-head needs --org: there is more than one organization']);
      const checked: Checked[] = [];
      for (const organization of organizations)
        checked.push({ organization, ...(await domains.audit.verify(organization.id, expectHead)) });
      return formatResult(checked);
    }),
});

type Activity = Static<typeof ActivityRecord>;

const DEFAULT_ACTIVITIES = '100';

const listActivities = defineCommand({
  name: 'audit list',
  summary: 'List activities of the audit log, newest first',
  settings: API_SETTINGS,
  options: {
    org: organizationOption,
    from: option('<time>', 'First day or time, ISO 8601'),
    to: option('<time>', 'Last day (inclusive) or time (exclusive), ISO 8601'),
    type: option('<type>', 'Type of the activity, such as key_create'),
    actor: option('<actor>', 'Id of the actor, such as a key, or the name it had at the time'),
    resourceType: option('<type>', 'Type of the changed resource: service, key, dashboard, budget and others'),
    resourceId: option('<id>', 'Id of the changed resource'),
    text: option('<text>', 'Text to search for; separate alternatives with |'),
    limit: optionWithDefault('<number>', 'Number of activities', DEFAULT_ACTIVITIES, countRule),
    json: jsonOption,
  },
  run: ({ withApi, options: { from, to, type, actor, resourceType, resourceId, text, limit } }) =>
    withApi(async (api) => {
      const activities = await api.list<Activity>('/activities', {
        query: {
          from_date: from,
          to_date: to,
          type,
          actor,
          resource_type: resourceType,
          resource_id: resourceId,
          text,
          limit: Math.min(limit, MAX_PAGE_SIZE),
        },
        options: FILTERS,
        maxRecords: limit,
      });
      return {
        json: activities,
        table: {
          header: ['TIME', 'TYPE', 'ACTOR', 'RESOURCE', 'ID'],
          rows: activities.map((one) => [
            one.createdAt,
            one.activityType,
            one.actorDetails,
            `${one.resourceType} ${one.resourceId}`,
            one.id,
          ]),
        },
      };
    }),
});

const FILTERS = {
  from_date: 'from',
  to_date: 'to',
  type: 'type',
  actor: 'actor',
  resource_type: 'resourceType',
  resource_id: 'resourceId',
  text: 'text',
};

export const auditCommands = [listActivities, verify];

type Checked = Verification & { organization: Organization };

function formatResult(checked: readonly Checked[]): CommandOutput {
  const failed = checked.filter(({ broken }) => broken);
  return {
    json: checked.map(({ organization: { id, name }, activities, removed, head, broken }) => ({
      organizationId: id,
      name,
      intact: !broken,
      verified: activities,
      removedByRetention: removed.sequence,
      ...(removed.sequence > 0 ? { removedAt: new Date(removed.removedAt).toISOString() } : {}),
      head: formatHead(head),
      ...(broken
        ? { problem: { kind: broken.kind, number: broken.sequence, activityId: broken.id ?? null, text: broken.text } }
        : {}),
    })),
    table: {
      header: ['ORGANIZATION', 'NAME', 'RESULT', 'VERIFIED', 'REMOVED BY RETENTION', 'HEAD'],
      rows: checked.map(({ organization: { id, name }, activities, removed, head, broken }) => [
        id,
        name,
        broken?.kind ?? 'intact',
        String(activities),
        String(removed.sequence),
        formatHead(head),
      ]),
    },
    error: failed.length > 0 ? new Error(failed.map(formatProblem).join('; ')) : undefined,
  };
}

const formatHead = ({ sequence, hash }: ChainHead): string => (sequence === 0 ? 'none' : `${sequence}:${hash}`);

function formatProblem({ organization: { name }, broken }: Checked): string {
  if (!broken) return '';
  const { kind, sequence, id, text } = broken;
  return `The audit log of ${name} is not intact: activity ${id ?? ''}${id ? ' ' : ''}(number ${sequence}) was ${kind}: ${text}`;
}
