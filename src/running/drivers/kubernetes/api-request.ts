/** A request to the API server. The verb and the resource are those of the access rules. */
export interface ApiRequest {
  verb: 'get' | 'list' | 'patch';
  /** Empty for the core group. */
  group: string;
  version: string;
  namespace: string;
  /** The plural, such as `statefulsets`. */
  resource: string;
  name?: string;
  subresource?: string;
  query?: Readonly<Record<string, string>>;
  patch?: { contentType: 'application/json-patch+json' | 'application/merge-patch+json'; body: unknown };
}

export function formatApiPath({
  group,
  version,
  namespace,
  resource,
  name,
  subresource,
  query = {},
}: ApiRequest): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const parts = ['namespaces', namespace, resource, name, subresource].filter((part) => part !== undefined);
  const search = new URLSearchParams(query).toString();
  return `${root}/${parts.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

/** `clickhouseinstallations.clickhouse.altinity.com fleet/orders` */
export const formatResource = ({ group, resource, namespace, name, subresource }: ApiRequest): string => {
  const plural = subresource === undefined ? resource : `${resource}/${subresource}`;
  const kind = group === '' ? plural : `${plural}.${group}`;
  return name === undefined ? `${kind} in the namespace ${namespace}` : `${kind} ${namespace}/${name}`;
};
