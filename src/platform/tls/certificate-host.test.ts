import { expect, it } from 'vitest';
import { chooseHost, isIssuedFor } from './certificate-host.ts';
import { createAuthority, createServerCertificate } from './create-certificate.ts';

const validity = { validFrom: new Date('2026-01-01'), validTo: new Date('2060-01-01') };
const authority = createAuthority({ name: 'Test authority', ...validity });
const issue = (...hosts: string[]): string => createServerCertificate({ authority, hosts, ...validity }).cert;

it.each([
  ['db.example.com', ['db.example.com'], true],
  ['DB.example.com', ['db.example.com'], true],
  ['a.example.com', ['*.example.com'], true],
  ['a.b.example.com', ['*.example.com'], false],
  ['example.com', ['*.example.com'], false],
  ['10.1.2.3', ['10.1.2.3'], true],
  ['10.1.2.3', ['db.example.com'], false],
  ['::1', ['localhost', '::1'], true],
])('whether %s may use a certificate for %j: %s', (host, hosts, expected) => {
  expect(isIssuedFor(issue(...hosts), host)).toBe(expected);
});

it.each([
  ['the own address', '10.1.2.3', undefined, ['db.example.com', '10.1.2.3'], '10.1.2.3'],
  ['the public URL', 'node-1', 'https://db.example.com/x', ['db.example.com'], 'db.example.com'],
  ['the public URL, an address', 'node-1', 'https://[2001:db8::1]:8443', ['2001:db8::1'], '2001:db8::1'],
  ['the first name', 'node-1', undefined, ['10.1.2.3', '*.example.com', 'db.example.com'], 'db.example.com'],
  ['a loopback address', '127.0.0.1', undefined, ['db.example.com'], '127.0.0.1'],
  ['the own name if nothing fits', 'node-1', undefined, ['*.example.com'], 'node-1'],
])('clients are told %s', (_, own, publicUrl, hosts, expected) => {
  expect(chooseHost(issue(...hosts), own, publicUrl)).toBe(expected);
});
