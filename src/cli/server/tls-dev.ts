import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { newUuid } from '../../kernel/ids.ts';
import { DAY_MS, systemClock } from '../../kernel/time/clock.ts';
import { createAuthority, createServerCertificate, type KeyPair } from '../../platform/tls/create-certificate.ts';
import { INVALID } from '../../server/settings/settings.ts';
import { type CommandContext, defineCommand, readInputFile, UsageError } from '../command.ts';
import { anyText, jsonOption, listOption, optionWithDefault, type ValueRule } from '../parameters.ts';

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '::1'];
const AUTHORITY_DAYS = 3650;
/** Apple's systems accept no more than 825 days, and browsers 398 for public certificates. */
const CERTIFICATE_DAYS = 397;
/** Clocks of other machines may be behind. */
const EARLIER_MS = DAY_MS;

const hostRule: ValueRule<string> = {
  rule: 'must be a host name or an IP address',
  parse: (text) => (isIP(text) > 0 || HOST_NAME.test(text) ? text.toLowerCase() : INVALID),
};
/** A wildcard may be the first part. */
const HOST_NAME = /^(?=.{1,253}$)(\*\.)?[a-z\d]([a-z\d-]{0,61}[a-z\d])?(\.[a-z\d]([a-z\d-]{0,61}[a-z\d])?)*$/i;

export const tlsDev = defineCommand({
  name: 'tls dev',
  summary: 'Create a certificate for this machine, and an authority that browsers and clients can be told to trust',
  options: {
    directory: optionWithDefault('<directory>', 'Where to write the files', '.pilothouse/tls', anyText),
    host: listOption('<name...>', `Further names and addresses besides ${LOCAL_HOSTS.join(', ')}`, hostRule),
    json: jsonOption,
  },
  async run(context) {
    const { directory, host = [] } = context.options;
    const files = listFiles(resolve(directory));
    const existing = findAuthority(context, files);
    const authority = existing ?? createNewAuthority();
    const hosts = [...new Set([...LOCAL_HOSTS, ...host])];
    const { cert, key } = createServerCertificate({ authority, hosts, ...getValidity(CERTIFICATE_DAYS) });
    if (!existing) {
      context.writePrivateFile(files.authorityKey, authority.key);
      context.writePrivateFile(files.authority, authority.cert);
    }
    context.writePrivateFile(files.key, key);
    context.writePrivateFile(files.cert, cert);
    const { validTo } = new X509Certificate(cert);
    return {
      json: { ...files, hosts, validTo },
      lines: formatNextSteps(files),
      notes: [
        `Created a certificate for ${hosts.join(', ')}, until ${validTo}${existing ? '' : ', and its authority'}.`,
      ],
    };
  },
});

type Files = ReturnType<typeof listFiles>;

const listFiles = (directory: string) => ({
  authority: join(directory, 'ca.pem'),
  authorityKey: join(directory, 'ca-key.pem'),
  cert: join(directory, 'cert.pem'),
  key: join(directory, 'key.pem'),
});

const getValidity = (days: number) => ({
  validFrom: new Date(systemClock.now() - EARLIER_MS),
  validTo: new Date(systemClock.now() + days * DAY_MS),
});

/** Each has a name of its own, so that lists of trusted authorities tell them apart. */
const createNewAuthority = (): KeyPair =>
  createAuthority({ name: `Pilothouse development ${newUuid().slice(0, 8)}`, ...getValidity(AUTHORITY_DAYS) });

/** The authority of an earlier call, whose certificate is replaced. Other files are not overwritten. */
function findAuthority(context: CommandContext, { authority, authorityKey, cert, key }: Files): KeyPair | undefined {
  if (!existsSync(authority) && !existsSync(authorityKey)) {
    const found = [cert, key].filter((path) => existsSync(path));
    if (found.length > 0)
      throw new UsageError(found.map((path) => `${path} exists and is not from this command; use another --directory`));
    return undefined;
  }
  const pair = { cert: readInputFile(context, authority), key: readInputFile(context, authorityKey) };
  if (existsSync(cert)) requireIssued(readInputFile(context, cert), cert, pair, authority);
  return pair;
}

function requireIssued(cert: string, path: string, pair: KeyPair, authority: string): void {
  let isIssued = false;
  try {
    isIssued = new X509Certificate(cert).verify(new X509Certificate(pair.cert).publicKey);
  } catch {
    // Another kind of file.
  }
  if (!isIssued) throw new UsageError([`${path} exists and is not from ${authority}; use another --directory`]);
}

const formatNextSteps = ({ authority, cert, key }: Files): string[] => [
  'Start the server:',
  `  pilothouse serve --tls-cert ${cert} --tls-key ${key}`,
  'Trust the authority, which clients and browsers do not know yet:',
  `  curl      curl --cacert ${authority} https://localhost:8080/healthz`,
  `  Node.js   export NODE_EXTRA_CA_CERTS=${authority}   (also for the pilothouse command)`,
  `  Debian    sudo cp ${authority} /usr/local/share/ca-certificates/pilothouse.crt && sudo update-ca-certificates`,
  `  macOS     sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain ${authority}`,
  `  Windows   certutil -addstore -user Root ${authority}`,
  '  Firefox   Settings, Certificates, Authorities, Import',
  'The key ca-key.pem can sign a certificate for any site, which machines that trust the authority accept: do not share it, and delete it when it is not needed.',
];
