import { isKeyRole } from '../../kernel/access/roles.ts';
import { MISSING, type Violation } from '../../kernel/errors.ts';
import { deriveHexId, deriveUuid } from '../../kernel/ids.ts';
import { type HashData, hashCredentials } from '../../management/keys/stored-key.ts';
import type { MemberRule } from '../../management/organizations/organization.ts';
import { TOTAL_PER_REPLICA } from '../../management/services/service.ts';
import { normalizeRule } from '../../observability/ingest/rules/rule.ts';
import type { SourceSpec } from '../../observability/sources/schema.ts';
import { hashSecret, toTokenSuffix } from '../../platform/credentials/secrets.ts';
import { declareAlerting } from './alerting-declarations.ts';
import type { Declared, Fields, KindName } from './declared.ts';
import type {
  CostSpec,
  DashboardSpec,
  FleetFile,
  KeySpec,
  OrganizationSpec,
  RoleSpec,
  ServiceSpec,
  TokenSpec,
} from './schema.ts';
import { declareServiceSettings } from './service-settings.ts';

export interface DeclaredOrganization {
  organization: Declared;
  resources: Declared[];
}

/** Their ids are unique among all organizations. */
const GLOBAL_KINDS: readonly KindName[] = ['service', 'key', 'token'];

/** Lists the declared resources. Omitted ids are derived from names, so they are stable. */
export function parseDeclarations(file: FleetFile): { organizations: DeclaredOrganization[]; violations: Violation[] } {
  const violations: Violation[] = [];
  const organizations = file.organizations.map((spec, index) =>
    declareOrganization(spec, `organizations[${index}]`, violations),
  );
  reportDuplicates(
    organizations.map(({ organization }) => organization),
    violations,
  );
  reportDuplicates(
    organizations.flatMap(({ resources }) => resources.filter(({ kind }) => GLOBAL_KINDS.includes(kind))),
    violations,
  );
  reportDuplicateCredentials(
    organizations.flatMap(({ resources }) => resources),
    violations,
  );
  for (const { resources } of organizations) {
    reportDuplicates(
      resources.filter(({ kind }) => !GLOBAL_KINDS.includes(kind)),
      violations,
    );
  }
  return { organizations, violations };
}

function declareOrganization(spec: OrganizationSpec, path: string, violations: Violation[]): DeclaredOrganization {
  const {
    services = [],
    roles = [],
    keys = [],
    dashboardTokens = [],
    sources = [],
    dashboards = [],
    channels,
    savedSearches,
    alerts,
    usageCosts = [],
    memberRules,
    telemetryRules,
    id: declaredId,
    ...rest
  } = spec;
  const id = declaredId?.toLowerCase() ?? deriveUuid('organization', spec.name);
  const roleIds = new Map(roles.map((role) => [role.name, getRoleId(id, role)]));
  const toRule = (rule: MemberRule) => ({
    ...rule,
    roles: rule.roles.map((role) => (isKeyRole(role) ? role : (roleIds.get(role) ?? role.toLowerCase()))),
  });
  const fields = {
    ...rest,
    ...(memberRules && { memberRules: memberRules.map(toRule) }),
    ...(telemetryRules && { telemetryRules: telemetryRules.map(normalizeRule) }),
  };
  const each = <S>(specs: S[], member: string, declare: (spec: S, at: string) => Declared | undefined) =>
    specs.flatMap((item, index) => declare(item, `${path}.${member}[${index}]`) ?? []);
  return {
    organization: { kind: 'organization', id, path, fields },
    resources: [
      ...each(assignWarehouses(services, id), 'services', (service, at) => declareService(service, at, violations)),
      ...each(roles, 'roles', (role: RoleSpec, at) => ({
        kind: 'role',
        id: getRoleId(id, role),
        path: at,
        fields: without(role, 'id'),
      })),
      ...each(keys, 'keys', (key, at) => declareKey(id, key, at, violations, roleIds)),
      ...each(dashboardTokens, 'dashboardTokens', (token, at) => declareToken(id, token, at, violations)),
      ...each(sources, 'sources', (source: SourceSpec, at) => ({
        kind: 'source',
        id: source.id ?? deriveHexId(id, 'source', source.name),
        path: at,
        fields: without(source, 'id'),
      })),
      ...each(dashboards, 'dashboards', (dashboard: DashboardSpec, at) => ({
        kind: 'dashboard',
        id: dashboard.id ?? deriveHexId(id, 'dashboard', dashboard.name),
        path: at,
        fields: without(dashboard, 'id'),
      })),
      ...declareAlerting(id, { channels, savedSearches, alerts }, `${path}.`, violations),
      ...each(usageCosts, 'usageCosts', (cost: CostSpec, at) => declareCost(cost, at)),
    ],
  };
}

/**
 * Adds ids. A service without a warehouse gets a separate one. The first service of a warehouse is primary unless
 * another one is declared as primary.
 */
function assignWarehouses(
  services: ServiceSpec[],
  organizationId: string,
): { spec: ServiceSpec; id: string; isFirst: boolean }[] {
  const complete = services.map((spec) => {
    const id = spec.id?.toLowerCase() ?? deriveUuid(organizationId, 'service', spec.name);
    return {
      id,
      spec: {
        ...spec,
        dataWarehouseId: spec.dataWarehouseId?.toLowerCase() ?? deriveUuid(organizationId, 'warehouse', id),
      },
    };
  });
  const claimed = new Set(complete.flatMap(({ spec }) => (spec.isPrimary === true ? [spec.dataWarehouseId] : [])));
  const seen = new Set<string>();
  return complete.map(({ id, spec }) => {
    const isFirst = !claimed.has(spec.dataWarehouseId) && !seen.has(spec.dataWarehouseId);
    seen.add(spec.dataWarehouseId);
    return { id, spec, isFirst };
  });
}

/** Converts totals to memory per replica. If a file contains both, they must agree. */
function declareService(
  { spec, id, isFirst }: ReturnType<typeof assignWarehouses>[number],
  path: string,
  violations: Violation[],
): Declared {
  const { id: _, minTotalMemoryGb, maxTotalMemoryGb, ...others } = spec;
  const fields = declareServiceSettings(others, id, path, violations);
  const bound = (name: 'min' | 'max', totalGb: number | undefined) => {
    const replicaGb = spec[`${name}ReplicaMemoryGb`];
    if (totalGb === undefined) return replicaGb === undefined ? {} : { [`${name}ReplicaMemoryGb`]: replicaGb };
    if (replicaGb !== undefined && replicaGb * TOTAL_PER_REPLICA !== totalGb) {
      violations.push({
        path: `${path}.${name}TotalMemoryGb`,
        rule: `The value must be ${TOTAL_PER_REPLICA} times ${name}ReplicaMemoryGb`,
        value: totalGb,
      });
    }
    return { [`${name}ReplicaMemoryGb`]: totalGb / TOTAL_PER_REPLICA };
  };
  const memory = { ...bound('min', minTotalMemoryGb), ...bound('max', maxTotalMemoryGb) };
  const aliases = {
    ...(minTotalMemoryGb === undefined
      ? {}
      : { minReplicaMemoryGb: { name: 'minTotalMemoryGb', times: TOTAL_PER_REPLICA } }),
    ...(maxTotalMemoryGb === undefined
      ? {}
      : { maxReplicaMemoryGb: { name: 'maxTotalMemoryGb', times: TOTAL_PER_REPLICA } }),
  };
  return { kind: 'service', id, path, fields: { ...fields, ...memory }, fallback: { isPrimary: isFirst }, aliases };
}

function declareKey(
  organizationId: string,
  spec: KeySpec,
  path: string,
  violations: Violation[],
  roleIds: ReadonlyMap<string, string>,
): Declared | undefined {
  const { id, keyId, keySecret, hashData, customRoles, ...fields } = spec;
  if (hashData ? keyId !== undefined || keySecret !== undefined : keyId === undefined || keySecret === undefined) {
    violations.push({ path, rule: 'The key must have either keyId and keySecret, or hashData', value: MISSING });
    return undefined;
  }
  const hashes = hashData ?? hashCredentials({ keyId: keyId ?? '', keySecret: keySecret ?? '' });
  return {
    kind: 'key',
    id: id?.toLowerCase() ?? deriveUuid(organizationId, 'key', hashes.keyIdHash),
    path,
    fields: {
      ...fields,
      ...(customRoles && { customRoles: customRoles.map((role) => roleIds.get(role) ?? role.toLowerCase()) }),
      hashData: hashes,
    },
  };
}

const getRoleId = (organizationId: string, { id, name }: RoleSpec): string =>
  id?.toLowerCase() ?? deriveUuid(organizationId, 'role', name);

function declareToken(
  organizationId: string,
  spec: TokenSpec,
  path: string,
  violations: Violation[],
): Declared | undefined {
  const { id, token, tokenHash, ...fields } = spec;
  if ((token === undefined) === (tokenHash === undefined)) {
    violations.push({ path, rule: 'The token must have either token or tokenHash', value: MISSING });
    return undefined;
  }
  const hash = tokenHash ?? hashSecret(token ?? '');
  const suffix = token === undefined ? {} : { tokenSuffix: toTokenSuffix(token) };
  return {
    kind: 'token',
    id: id?.toLowerCase() ?? deriveUuid(organizationId, 'token', hash),
    path,
    fields: { ...fields, ...suffix, tokenHash: hash },
  };
}

function declareCost(spec: CostSpec, path: string): Declared {
  const entityId = spec.entityId.toLowerCase();
  return { kind: 'cost', id: `${spec.date} ${spec.entityType} ${entityId}`, path, fields: { ...spec, entityId } };
}

export function reportDuplicates(resources: readonly Declared[], violations: Violation[]): void {
  const first = new Map<string, string>();
  for (const { kind, id, path } of resources) {
    const firstPath = first.get(`${kind} ${id}`);
    if (firstPath !== undefined) violations.push({ path, rule: `Already declared at ${firstPath}`, value: id });
    else first.set(`${kind} ${id}`, path);
  }
}

/** Reports different records with the same credential. A record declared twice is reported by `reportDuplicates`. */
function reportDuplicateCredentials(resources: readonly Declared[], violations: Violation[]): void {
  const first = new Map<string, Declared>();
  for (const resource of resources) {
    const { kind, id, path, fields } = resource;
    const hash =
      kind === 'key'
        ? (fields.hashData as HashData).keyIdHash
        : kind === 'token'
          ? String(fields.tokenHash)
          : undefined;
    const duplicate = hash === undefined ? undefined : first.get(`${kind} ${hash}`);
    if (duplicate && duplicate.id !== id)
      violations.push({ path, rule: `The ${kind} has the same credential as the one at ${duplicate.path}`, value: id });
    else if (hash !== undefined) first.set(`${kind} ${hash}`, resource);
  }
}

function without(spec: Fields, name: string): Fields {
  const { [name]: _, ...rest } = spec;
  return rest;
}
