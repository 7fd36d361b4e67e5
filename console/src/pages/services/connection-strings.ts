import type { Service } from '../../api/types.ts';

type Endpoint = NonNullable<Service['endpoints']>[number];

export const CLIENTS = ['curl', 'Python', 'JavaScript', 'JDBC', 'Go'] as const;
export type Client = (typeof CLIENTS)[number];

/** A placeholder while the password is not known: the server has only a hash of it. */
const PASSWORD_PLACEHOLDER = 'PASSWORD';

/** The package that a snippet needs. */
export const PACKAGES: Partial<Record<Client, string>> = {
  Python: 'pip install clickhouse-connect',
  JavaScript: 'npm install @clickhouse/client',
  JDBC: 'com.clickhouse:clickhouse-jdbc',
  Go: 'go get github.com/ClickHouse/clickhouse-go/v2',
};

/** A first query over HTTP with each client. */
export function formatConnection(client: Client, endpoint: Endpoint, password = PASSWORD_PLACEHOLDER): string {
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
