import type { Service } from '../../../api/types.ts';

type Endpoint = NonNullable<Service['endpoints']>[number];

const HTTP_CLIENTS = ['curl', 'Python', 'JavaScript', 'JDBC', 'Go'] as const;
type HttpClient = (typeof HTTP_CLIENTS)[number];
const NATIVE_CLIENT = 'clickhouse-client';
export type Client = HttpClient | typeof NATIVE_CLIENT;

/** Where the clients of a service connect. */
interface Endpoints {
  http: Endpoint;
  native: Endpoint | undefined;
}

/** Undefined if no client can connect. */
export function findEndpoints({ driver, endpoints = [] }: Service): Endpoints | undefined {
  const isNative = ({ protocol }: Endpoint) => protocol.startsWith('native');
  const http = driver === 'simulated' ? undefined : endpoints.find((endpoint) => !isNative(endpoint));
  return http && { http, native: endpoints.find(isNative) };
}

export const listClients = ({ native }: Endpoints): Client[] =>
  native ? [...HTTP_CLIENTS, NATIVE_CLIENT] : [...HTTP_CLIENTS];

/** A placeholder while the password is not known: the server has only a hash of it. */
const PASSWORD_PLACEHOLDER = 'PASSWORD';

/** The package that a snippet needs. */
export const PACKAGES: Partial<Record<Client, string>> = {
  Python: 'pip install clickhouse-connect',
  JavaScript: 'npm install @clickhouse/client',
  JDBC: 'com.clickhouse:clickhouse-jdbc',
  Go: 'go get github.com/ClickHouse/clickhouse-go/v2',
};

/** A first query with each client. */
export const formatConnection = (
  client: Client,
  { http, native }: Endpoints,
  password = PASSWORD_PLACEHOLDER,
): string => (client === NATIVE_CLIENT ? formatNative(native ?? http, password) : formatHttp(client, http, password));

const formatNative = ({ protocol, host, port, username = 'default' }: Endpoint, password: string): string =>
  [
    `clickhouse-client --host ${quoteShell(host)} --port ${port}${protocol === 'nativesecure' ? ' --secure' : ''}`,
    `--user ${quoteShell(username)} --password ${quoteShell(password)} --query 'SELECT version()'`,
  ].join(' \\\n  ');

function formatHttp(client: HttpClient, endpoint: Endpoint, password: string): string {
  const { protocol, host, port, username = 'default' } = endpoint;
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const url = `${protocol}://${address}`;
  switch (client) {
    case 'curl':
      return `curl -u ${quoteShell(`${username}:${password}`)} ${quoteShell(`${url}/?query=SELECT+version()`)}`;
    case 'Python':
      return [
        'import clickhouse_connect',
        '',
        'client = clickhouse_connect.get_client(',
        `    host=${quote(host)}, port=${port}, secure=${protocol === 'https' ? 'True' : 'False'},`,
        `    username=${quote(username)}, password=${quote(password)},`,
        ')',
        "print(client.command('SELECT version()'))",
      ].join('\n');
    case 'JavaScript':
      return [
        "import { createClient } from '@clickhouse/client';",
        '',
        'const client = createClient({',
        `  url: ${quote(url)},`,
        `  username: ${quote(username)},`,
        `  password: ${quote(password)},`,
        '});',
        "const result = await client.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' });",
        'console.log(await result.json());',
        'await client.close();',
      ].join('\n');
    case 'JDBC':
      return `jdbc:clickhouse:${url}/default?user=${encodeURIComponent(username)}&password=${encodeURIComponent(password)}`;
    case 'Go':
      return [
        'db := clickhouse.OpenDB(&clickhouse.Options{',
        '\tProtocol: clickhouse.HTTP,',
        `\tAddr:     []string{${quote(address)}},`,
        `\tAuth:     clickhouse.Auth{Username: ${quote(username)}, Password: ${quote(password)}},`,
        ...(protocol === 'https' ? ['\tTLS:      &tls.Config{},'] : []),
        '})',
        'row := db.QueryRow("SELECT version()")',
      ].join('\n');
  }
}

/** A JSON string is also a string of Python, JavaScript and Go. */
const quote = (text: string): string => JSON.stringify(text);

/** For a POSIX shell. */
const quoteShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
