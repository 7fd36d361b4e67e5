import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { startKubernetesApi } from '../../../../test/support/kubernetes-api.ts';
import { installation } from '../../../../test/support/kubernetes-objects.ts';
import { openKubernetesClient } from './client.ts';
import { readKubeconfig, readServiceAccount, readToken } from './kubeconfig.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a kubeconfig', () => {
  let folder: string;
  const path = () => join(folder, 'kubeconfig');
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'pilothouse-kubeconfig-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const write = (cluster: object, user: object = {}, changes: object = {}) =>
    writeFileSync(
      path(),
      stringify({
        'current-context': 'main',
        contexts: [{ name: 'main', context: { cluster: 'c', user: 'u', namespace: 'fleet' } }],
        clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443', ...cluster } }],
        users: [{ name: 'u', user }],
        ...changes,
      }),
    );

  it('has data in it or in files next to it', async () => {
    write(
      { 'certificate-authority-data': base64('a CA'), 'tls-server-name': 'kubernetes' },
      { 'client-certificate-data': base64('a certificate'), 'client-key': 'key.pem' },
    );
    writeFileSync(join(folder, 'key.pem'), 'a key');
    expect(await readKubeconfig(path())).toEqual({
      server: new URL('https://10.0.0.1:6443'),
      ca: 'a CA',
      cert: 'a certificate',
      key: 'a key',
      servername: 'kubernetes',
    });
  });

  it('has a token, or a file with one that is read for every call', async () => {
    write({}, { token: 'in-the-file' });
    expect(await readToken(await readKubeconfig(path()))).toBe('in-the-file');
    write({}, { tokenFile: 'token' });
    writeFileSync(join(folder, 'token'), 'first\n');
    const connection = await readKubeconfig(path());
    expect(await readToken(connection)).toBe('first');
    writeFileSync(join(folder, 'token'), 'second\n');
    expect(await readToken(connection)).toBe('second');
    writeFileSync(join(folder, 'token'), 'broken\r\nX-Header: yes');
    await expect(readToken(connection)).rejects.toThrow('its token is not valid');
  });

  it.each([
    [{ 'insecure-skip-tls-verify': true }, {}, 'insecure-skip-tls-verify: certificates are always verified'],
    [{ 'proxy-url': 'http://proxy' }, {}, 'proxy-url: proxies are not supported'],
    [{}, { exec: { command: 'aws' } }, 'exec: programs for credentials are not started'],
    [{}, { 'auth-provider': { name: 'gcp' } }, 'auth-provider: programs'],
    [{}, { username: 'root' }, 'username: Kubernetes no longer accepts passwords'],
    [{}, { as: 'admin' }, 'as: acting as another account'],
    [{ server: 'http://10.0.0.1' }, {}, 'server: it must be an https URL'],
    [{ server: 'file:///etc/passwd' }, {}, 'server: it must be an https URL'],
    [{}, { tokenFile: 5 }, 'users[0].user.tokenFile: The value must be a string <number>'],
    [{ 'certificate-authority': 'missing.pem' }, {}, 'certificate-authority cannot be read (ENOENT)'],
  ])('is refused with %j and %j', async (cluster, user, message) => {
    write(cluster, user);
    await expect(readKubeconfig(path())).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(`The kubeconfig cannot be used: ${message}`),
    });
  });

  it.each([
    [{ 'current-context': 'other' }, 'it has no context other'],
    [{ 'current-context': '' }, 'current-context: The value must not be empty'],
    [{ clusters: [] }, 'it has no cluster c'],
    [{ users: [] }, 'it has no user u'],
  ])('is refused with %j', async (changes, message) => {
    write({}, {}, changes);
    await expect(readKubeconfig(path())).rejects.toThrow(message);
  });

  it('is not needed in a pod with an account', async () => {
    await expect(readServiceAccount(join(folder, 'missing'))).rejects.toThrow('There is no kubeconfig');
    writeFileSync(join(folder, 'ca.crt'), 'a CA');
    expect(await readServiceAccount(folder)).toEqual({
      server: new URL('https://kubernetes.default.svc'),
      ca: 'a CA',
      tokenFile: join(folder, 'token'),
    });
  });

  it.skipIf(!hasOpenssl)('names the only certificate that is trusted (skipped where openssl is absent)', async () => {
    const files = ['-keyout', join(folder, 'server.key'), '-out', join(folder, 'server.crt')];
    const name = ['-subj', '/CN=kubernetes', '-addext', 'subjectAltName=DNS:kubernetes'];
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
    execFileSync('openssl', ['req', '-x509', ...kind, ...name, ...files], { stdio: 'ignore' });
    const [key, cert] = ['server.key', 'server.crt'].map((file) => readFileSync(join(folder, file), 'utf8'));
    const api = await startKubernetesApi({ key: key ?? '', cert: cert ?? '' });
    onTestFinished(api.close);
    api.put(installation());
    const read = async (cluster: object) => {
      write({ server: api.url, ...cluster }, { token: api.access.token });
      const client = openKubernetesClient({ kubeconfig: path() });
      const place = { group: 'clickhouse.altinity.com', version: 'v1', namespace: 'fleet', name: 'orders' };
      const request = { verb: 'get', resource: 'clickhouseinstallations', ...place } as const;
      return client.read<{ kind: string }>(request, new AbortController().signal).finally(client.close);
    };
    const trusted = { 'certificate-authority-data': base64(cert ?? ''), 'tls-server-name': 'kubernetes' };
    expect((await read(trusted)).kind).toBe('ClickHouseInstallation');
    await expect(read({ ...trusted, 'tls-server-name': 'other' })).rejects.toThrow('ERR_TLS_CERT_ALTNAME_INVALID');
    await expect(read({})).rejects.toThrow('cannot be reached: DEPTH_ZERO_SELF_SIGNED_CERT');
    await expect(read({ 'certificate-authority-data': base64('nonsense') })).rejects.toThrow('cannot be');
  });
});
