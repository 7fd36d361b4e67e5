import type { KubernetesOptions } from '../../../management/services/driver.ts';
import type { ApiRequest } from './api-request.ts';

/** The members of objects that the driver reads. The API server has checked them against the schema of the resource. */
export interface Metadata {
  name: string;
  uid: string;
  resourceVersion: string;
  generation: number;
  annotations?: Record<string, string>;
  deletionTimestamp?: string;
  ownerReferences?: { uid: string }[];
}

export interface Container {
  name: string;
  resources?: { limits?: Record<string, unknown>; requests?: Record<string, unknown> };
}

/** A StatefulSet. Both operators create one for each replica. */
export interface StatefulSet {
  metadata: Metadata;
  spec: { replicas?: number; template: { spec: { containers: Container[] } } };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    readyReplicas?: number;
    updatedReplicas?: number;
    currentRevision?: string;
    updateRevision?: string;
  };
}

export interface Pod {
  metadata: Metadata;
  status?: {
    phase?: string;
    containerStatuses?: { name: string; state?: { waiting?: { reason?: string; message?: string } } }[];
  };
}

interface ResourceKind {
  group: string;
  version: string;
  resource: string;
  /** Selects the sets and pods of an object. */
  selector(name: string): string;
}

/** The resources of the operators. */
const RESOURCE_KINDS: Readonly<Record<KubernetesOptions['kind'], ResourceKind>> = {
  ClickHouseInstallation: {
    group: 'clickhouse.altinity.com',
    version: 'v1',
    resource: 'clickhouseinstallations',
    selector: (name) => `clickhouse.altinity.com/chi=${name}`,
  },
  ClickHouseCluster: {
    group: 'clickhouse.com',
    version: 'v1alpha1',
    resource: 'clickhouseclusters',
    selector: (name) => `app=${name}-clickhouse`,
  },
};

type Place = Pick<KubernetesOptions, 'kind' | 'namespace' | 'name'>;

export function toResourceRequest({ kind, namespace, name }: Place, verb: ApiRequest['verb']): ApiRequest {
  const { group, version, resource } = RESOURCE_KINDS[kind];
  return { verb, group, version, namespace, resource, name };
}

/** A page of the sets or pods of an object. `next` is the `continue` of the page before. */
export const toListRequest = (
  { kind, namespace, name }: Place,
  resource: 'statefulsets' | 'pods',
  next = '',
): ApiRequest => ({
  verb: 'list',
  group: resource === 'pods' ? '' : 'apps',
  version: 'v1',
  namespace,
  resource,
  query: {
    labelSelector: RESOURCE_KINDS[kind].selector(name),
    limit: '500',
    ...(next !== '' && { continue: next }),
  },
});
