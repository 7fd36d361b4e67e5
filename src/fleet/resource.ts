import { hashSecret, toTokenSuffix } from '../credentials/secrets.ts';
import { MISSING, type Violation } from '../kernel/errors.ts';
import { deriveHexId, deriveUuid } from '../kernel/ids.ts';
import type { HashData } from '../keys/keys.ts';
import { hashCredentials } from '../keys/keys.ts';
import { TOTAL_PER_REPLICA } from '../services/service.ts';
import type { SourceSpec } from '../sources/schema.ts';
import type {
  CostSpec,
  DashboardSpec,
  FleetFile,
  KeySpec,
  OrganizationSpec,
  ServiceSpec,
  TokenSpec,
} from './schema.ts';

export type KindName = 'organization' | 'service' | 'key' | 'token' | 'source' | 'dashboard' | 'cost';

/** Members by name, in the words of the file; secrets are hashes by now. */
export type Fields = Record<string, unknown>;

/** One thing that the file declares, and where it stands there. */
export interface Declared {
  kind: KindName;
  id: string;
  path: string;
  fields: Fields;
  /** What it gets when it is new and the file says nothing about it. */
  fallback?: Fields;
  /** How the file spells a field, where that differs, and by how much: errors name what stands there. */
  spelled?: Record<string, { name: string; times: number }>;
}

export interface DeclaredOrganization {
  organization: Declared;
  resources: Declared[];
}

/** The file as a list of resources with ids: those left out are derived, so that they stay the same. */
export function declaredIn(file: FleetFile): { organizations: DeclaredOrganization[]; violations: Violation[] } {
  const violations: Violation[] = [];
  const organizations = file.organizations.map((spec, index) =>
    declaredOrganization(spec, `organizations[${index}]`, violations),
  );
  refuseRepeated(
    organizations.map(({ organization }) => organization),
    violations,
  );
  refuseRepeated(
    organizations.flatMap(({ resources }) =>
      resources.filter(({ kind }) => kind === 'service' || kind === 'key' || kind === 'token'),
    ),
    violations,
  );
  refuseRepeatedCredentials(
    organizations.flatMap(({ resources }) => resources),
    violations,
  );
  for (const { resources } of organizations) {
    refuseRepeated(
      resources.filter(({ kind }) => kind === 'source' || kind === 'dashboard' || kind === 'cost'),
      violations,
    );
  }
  return { organizations, violations };
}

function declaredOrganization(spec: OrganizationSpec, path: string, violations: Violation[]): DeclaredOrganization {
  const {
    services = [],
    keys = [],
    dashboardTokens = [],
    sources = [],
    dashboards = [],
    usageCosts = [],
    id: given,
    ...fields
  } = spec;
  const id = given?.toLowerCase() ?? deriveUuid('organization', spec.name);
  const each = <S>(specs: S[], member: string, declare: (spec: S, at: string) => Declared | undefined) =>
    specs.flatMap((one, index) => declare(one, `${path}.${member}[${index}]`) ?? []);
  return {
    organization: { kind: 'organization', id, path, fields },
    resources: [
      ...each(withWarehouses(services, id), 'services', (one, at) => declaredService(one, at, violations)),
      ...each(keys, 'keys', (one, at) => declaredKey(id, one, at, violations)),
      ...each(dashboardTokens, 'dashboardTokens', (one, at) => declaredToken(id, one, at, violations)),
      ...each(sources, 'sources', (one: SourceSpec, at) => ({
        kind: 'source',
        id: one.id ?? deriveHexId(id, 'source', one.name),
        path: at,
        fields: without(one, 'id'),
      })),
      ...each(dashboards, 'dashboards', (one: DashboardSpec, at) => ({
        kind: 'dashboard',
        id: one.id ?? deriveHexId(id, 'dashboard', one.name),
        path: at,
        fields: without(one, 'id'),
      })),
      ...each(usageCosts, 'usageCosts', (one: CostSpec, at) => declaredCost(one, at)),
    ],
  };
}

/** With ids; a service without a warehouse has one of its own. Of those that share one, the first is primary unless another says so. */
function withWarehouses(
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
  return complete.map(({ id, spec }, index) => {
    const isInWarehouse = (other: { spec: ServiceSpec }) => other.spec.dataWarehouseId === spec.dataWarehouseId;
    const isClaimed = complete.some((other) => isInWarehouse(other) && other.spec.isPrimary === true);
    return { id, spec, isFirst: !isClaimed && complete.findIndex(isInWarehouse) === index };
  });
}

/** Totals become what they are a threefold of; a file that gives both must mean the same. */
function declaredService(
  { spec, id, isFirst }: ReturnType<typeof withWarehouses>[number],
  path: string,
  violations: Violation[],
): Declared {
  const { id: _, minTotalMemoryGb, maxTotalMemoryGb, ...fields } = spec;
  const bound = (name: 'min' | 'max', totalGb: number | undefined) => {
    const replicaGb = spec[`${name}ReplicaMemoryGb`];
    if (totalGb === undefined) return replicaGb === undefined ? {} : { [`${name}ReplicaMemoryGb`]: replicaGb };
    if (replicaGb !== undefined && replicaGb * TOTAL_PER_REPLICA !== totalGb) {
      violations.push({
        path: `${path}.${name}TotalMemoryGb`,
        rule: `The value must be three times ${name}ReplicaMemoryGb`,
        value: totalGb,
      });
    }
    return { [`${name}ReplicaMemoryGb`]: totalGb / TOTAL_PER_REPLICA };
  };
  const memory = { ...bound('min', minTotalMemoryGb), ...bound('max', maxTotalMemoryGb) };
  const spelled = {
    ...(minTotalMemoryGb === undefined
      ? {}
      : { minReplicaMemoryGb: { name: 'minTotalMemoryGb', times: TOTAL_PER_REPLICA } }),
    ...(maxTotalMemoryGb === undefined
      ? {}
      : { maxReplicaMemoryGb: { name: 'maxTotalMemoryGb', times: TOTAL_PER_REPLICA } }),
  };
  return { kind: 'service', id, path, fields: { ...fields, ...memory }, fallback: { isPrimary: isFirst }, spelled };
}

function declaredKey(
  organizationId: string,
  spec: KeySpec,
  path: string,
  violations: Violation[],
): Declared | undefined {
  const { id, keyId, keySecret, hashData, ...fields } = spec;
  if (hashData ? keyId !== undefined || keySecret !== undefined : keyId === undefined || keySecret === undefined) {
    violations.push({ path, rule: 'The key must have either keyId and keySecret, or hashData', value: MISSING });
    return undefined;
  }
  const hashes = hashData ?? hashCredentials({ keyId: keyId ?? '', keySecret: keySecret ?? '' });
  return {
    kind: 'key',
    id: id?.toLowerCase() ?? deriveUuid(organizationId, 'key', hashes.keyIdHash),
    path,
    fields: { ...fields, hashData: hashes },
  };
}

function declaredToken(
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

function declaredCost(spec: CostSpec, path: string): Declared {
  const entityId = spec.entityId.toLowerCase();
  return { kind: 'cost', id: `${spec.date} ${spec.entityType} ${entityId}`, path, fields: { ...spec, entityId } };
}

function refuseRepeated(resources: readonly Declared[], violations: Violation[]): void {
  const first = new Map<string, string>();
  for (const { kind, id, path } of resources) {
    const known = first.get(`${kind} ${id}`);
    if (known !== undefined) violations.push({ path, rule: `This is declared already, at ${known}`, value: id });
    else first.set(`${kind} ${id}`, path);
  }
}

/** Two records that one credential would open. The same record twice is refused as such. */
function refuseRepeatedCredentials(resources: readonly Declared[], violations: Violation[]): void {
  const first = new Map<string, Declared>();
  for (const resource of resources) {
    const { kind, id, path, fields } = resource;
    const hash =
      kind === 'key'
        ? (fields.hashData as HashData).keyIdHash
        : kind === 'token'
          ? String(fields.tokenHash)
          : undefined;
    const known = hash === undefined ? undefined : first.get(`${kind} ${hash}`);
    if (known && known.id !== id)
      violations.push({ path, rule: `The ${kind} has the credential of another one, at ${known.path}`, value: id });
    else if (hash !== undefined) first.set(`${kind} ${hash}`, resource);
  }
}

function without(spec: Fields, name: string): Fields {
  const { [name]: _, ...rest } = spec;
  return rest;
}
