import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { SqlRole } from '../../management/services/driver.ts';
import { hashSecret, isSameHash } from '../../platform/credentials/secrets.ts';

/** Marks a request as a statement by role. Only the processes of this server know its secret, and no service sees it. */
export const SQL_HEADER = 'x-pilothouse-sql';

/** Where to send statements by role. */
export interface SqlAccess {
  host: string;
  port: number;
  secret: string;
  /** The certificate of the endpoint, if it uses TLS. */
  cert?: string;
}

/** Who runs a statement by role. */
export interface SqlCaller {
  role: SqlRole;
  credentialId: string;
  /** The address of the client. */
  address: string;
}

const ROLES: readonly string[] = ['reader', 'admin'] satisfies SqlRole[];

export const renderSqlHeader = (secret: string, { role, credentialId, address }: SqlCaller): string =>
  [secret, role, credentialId, address].map(encodeURIComponent).join(' ');

/** The secret is new for each start of the server. */
export function createSqlCallers() {
  const secret = randomBytes(32).toString('hex');
  const hash = Buffer.from(hashSecret(secret), 'base64');
  return {
    secret,
    /** Undefined for the request of another client, whatever it has in the header. */
    find({ headers }: Pick<IncomingMessage, 'headers'>): SqlCaller | undefined {
      const header = headers[SQL_HEADER];
      if (typeof header !== 'string') return undefined;
      const [sent = '', role = '', credentialId = '', address = ''] = header.split(' ');
      if (!ROLES.includes(role) || !isSameHash(Buffer.from(hashSecret(sent), 'base64'), hash)) return undefined;
      return {
        role: role as SqlRole,
        credentialId: decodeURIComponent(credentialId),
        address: decodeURIComponent(address),
      };
    },
  };
}
