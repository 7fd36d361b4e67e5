import type { Service } from '../../api/types.ts';

type Endpoint = NonNullable<Service['endpoints']>[number];

/** A first query as a curl command. The password is a placeholder: the server has only a hash of it. */
export function formatQueryCurl({ protocol, host, port, username = 'default' }: Endpoint): string {
  const address = host.includes(':') ? `[${host}]` : host;
  return `curl -u ${quote(`${username}:PASSWORD`)} ${quote(`${protocol}://${address}:${port}/?query=SELECT+version()`)}`;
}

/** For a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
