import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { AppError } from '../../kernel/errors.ts';

/** A certificate and its key, as PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

interface Validity {
  validFrom: Date;
  validTo: Date;
}

/**
 * Node reads certificates and does not create them. What follows writes the few structures of RFC 5280 that a certificate
 * for a server needs: keys on the curve P-256, names with one part, and no revocation.
 */
export function createAuthority({ name, ...validity }: Validity & { name: string }): KeyPair {
  const { publicKey, privateKey } = createKeys();
  const extensions = [
    extension(OIDS.basicConstraints, sequence(TRUE), 'critical'),
    // Signs certificates, and nothing else.
    extension(OIDS.keyUsage, element(BIT_STRING, Buffer.from([2, 0b0000_0100])), 'critical'),
    extension(OIDS.subjectKeyIdentifier, element(OCTET_STRING, hashKey(publicKey))),
  ];
  const cert = createSigned({
    subject: name,
    issuer: name,
    publicKey,
    signingKey: privateKey,
    extensions,
    ...validity,
  });
  return { cert, key: exportKey(privateKey) };
}

/** A certificate for these host names and addresses. The chain has the certificate only: clients know the authority. */
export function createServerCertificate({
  authority,
  hosts,
  ...validity
}: Validity & { authority: KeyPair; hosts: readonly string[] }): KeyPair {
  const { publicKey, privateKey } = createKeys();
  const issuer = new X509Certificate(authority.cert);
  const signingKey = createPrivateKey(authority.key);
  const [, name] = /^CN=(.*)$/.exec(issuer.subject) ?? [];
  const extensions = [
    extension(OIDS.basicConstraints, sequence(), 'critical'),
    extension(OIDS.keyUsage, element(BIT_STRING, Buffer.from([7, 0b1000_0000])), 'critical'),
    extension(OIDS.extendedKeyUsage, sequence(element(OBJECT_ID, OIDS.serverAuthentication))),
    extension(OIDS.subjectAlternativeName, sequence(...hosts.map(encodeHost))),
    extension(OIDS.authorityKeyIdentifier, sequence(element(CONTEXT_0, hashKey(issuer.publicKey)))),
    extension(OIDS.subjectKeyIdentifier, element(OCTET_STRING, hashKey(publicKey))),
  ];
  const subject = hosts[0] ?? '';
  const cert = createSigned({ subject, issuer: name ?? '', publicKey, signingKey, extensions, ...validity });
  const created = new X509Certificate(cert);
  if (!created.checkIssued(issuer) || !created.verify(issuer.publicKey))
    throw new AppError(
      'bad_request',
      'The authority was not created by this program, or its key does not match its certificate',
    );
  return { cert, key: exportKey(privateKey) };
}

const createKeys = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const exportKey = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string;
const exportPublicKey = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });
const hashKey = (key: KeyObject): Buffer =>
  createHash('sha256').update(exportPublicKey(key)).digest().subarray(0, KEY_ID_BYTES);

interface Unsigned extends Validity {
  subject: string;
  issuer: string;
  publicKey: KeyObject;
  signingKey: KeyObject;
  extensions: Buffer[];
}

function createSigned({ subject, issuer, publicKey, signingKey, extensions, validFrom, validTo }: Unsigned): string {
  const algorithm = sequence(element(OBJECT_ID, OIDS.ecdsaWithSha256));
  const serial = randomBytes(SERIAL_BYTES);
  // Positive, and not zero.
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  const content = sequence(
    element(CONTEXT_0_CONSTRUCTED, element(INTEGER, Buffer.from([VERSION_3]))),
    element(INTEGER, serial),
    algorithm,
    encodeName(issuer),
    sequence(encodeTime(validFrom), encodeTime(validTo)),
    encodeName(subject),
    exportPublicKey(publicKey),
    element(CONTEXT_3_CONSTRUCTED, sequence(...extensions)),
  );
  const signature = element(BIT_STRING, NO_UNUSED_BITS, sign('sha256', content, signingKey));
  const lines =
    sequence(content, algorithm, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

// Tags of DER (X.690).
const BOOLEAN = 0x01;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_ID = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;
const SEQUENCE = 0x30;
const SET = 0x31;
const CONTEXT_0 = 0x80;
const CONTEXT_0_CONSTRUCTED = 0xa0;
const CONTEXT_3_CONSTRUCTED = 0xa3;
const DNS_NAME = 0x82;
const IP_ADDRESS = 0x87;

const OIDS = {
  ecdsaWithSha256: Buffer.from('2a8648ce3d040302', 'hex'),
  commonName: Buffer.from('550403', 'hex'),
  subjectKeyIdentifier: Buffer.from('551d0e', 'hex'),
  keyUsage: Buffer.from('551d0f', 'hex'),
  subjectAlternativeName: Buffer.from('551d11', 'hex'),
  basicConstraints: Buffer.from('551d13', 'hex'),
  authorityKeyIdentifier: Buffer.from('551d23', 'hex'),
  extendedKeyUsage: Buffer.from('551d25', 'hex'),
  serverAuthentication: Buffer.from('2b06010505070301', 'hex'),
};

const VERSION_3 = 2;
const SERIAL_BYTES = 16;
const KEY_ID_BYTES = 20;
const NO_UNUSED_BITS = Buffer.from([0]);
const TRUE = element(BOOLEAN, Buffer.from([0xff]));

function element(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...encodeLength(content.length)]), content]);
}

function encodeLength(length: number): number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

function sequence(...parts: Buffer[]): Buffer {
  return element(SEQUENCE, ...parts);
}

function extension(oid: Buffer, value: Buffer, importance?: 'critical'): Buffer {
  return sequence(element(OBJECT_ID, oid), ...(importance ? [TRUE] : []), element(OCTET_STRING, value));
}

const encodeName = (text: string): Buffer =>
  sequence(element(SET, sequence(element(OBJECT_ID, OIDS.commonName), element(UTF8_STRING, Buffer.from(text)))));

/** Two digits of the year until 2049, then four. */
function encodeTime(time: Date): Buffer {
  const digits = `${time.toISOString().slice(0, 19).replace(/\D/g, '')}Z`;
  return time.getUTCFullYear() < 2050
    ? element(UTC_TIME, Buffer.from(digits.slice(2)))
    : element(GENERALIZED_TIME, Buffer.from(digits));
}

const encodeHost = (host: string): Buffer =>
  ipaddr.isValid(host)
    ? element(IP_ADDRESS, Buffer.from(ipaddr.parse(host).toByteArray()))
    : element(DNS_NAME, Buffer.from(host));
