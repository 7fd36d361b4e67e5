import { describe, expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

onEachStore('health', (store) => {
  const server = useServer(store);

  it.each([
    ['/healthz', { status: 'ok' }],
    ['/readyz', { status: 'ready' }],
  ])('%s requires no credentials', async (path, expected) => {
    const { status, json } = await server.call({ path });
    expect([status, json]).toEqual([200, expected]);
  });

  it('HEAD works like GET, for probes that ignore the body', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json']) {
      const { status, text } = await server.call({ method: 'HEAD', path });
      expect([path, status, text]).toEqual([path, 200, '']);
    }
  });

  describe('/metrics', () => {
    const metrics = async () => (await server.call({ path: '/metrics' })).text;
    const value = (text: string, sample: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${sample} `))
          ?.split(' ')[1] ?? 0,
      );

    it('is in the Prometheus text format', async () => {
      const { headers, text } = await server.call({ path: '/metrics' });
      expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
      for (const line of text.split('\n')) expect(line).toMatch(/^(|# (HELP|TYPE) \w+ .*|\w+(\{.*\})? \S+)$/);
    });

    it('counts and times requests by operation and status', async () => {
      const samples = [
        'pilothouse_requests_total{operation="instanceScalingUpdate",status="200"}',
        'pilothouse_requests_total{operation="instanceScalingUpdate",status="400"}',
        'pilothouse_requests_total{operation="listDashboards",status="401"}',
        'pilothouse_requests_total{operation="unknown",status="404"}',
        'pilothouse_request_seconds_count{operation="instanceScalingUpdate",status="200"}',
        'pilothouse_request_seconds_bucket{le="+Inf",operation="instanceScalingUpdate",status="200"}',
      ];
      const before = await metrics();
      const path = `/v1/organizations/${acme.id}/services/${acme.primary}/scaling`;
      await server.call({ method: 'PATCH', path, key: acme.admin, body: { numReplicas: 6 } });
      await server.call({ method: 'PATCH', path, key: acme.admin, body: { numReplicas: 60 } });
      await server.call({ path: '/api/v2/dashboards' });
      await server.call({ path: '/v1/nothing' });
      const after = await metrics();
      for (const sample of samples) expect(value(after, sample) - value(before, sample), sample).toBe(1);
    });

    it('does not grow with arbitrary paths and methods', async () => {
      const series = (text: string) =>
        text.split('\n').filter((line) => line.startsWith('pilothouse_requests_total{')).length;
      await server.call({ path: '/stranger' });
      const before = series(await metrics());
      for (let i = 0; i < 20; i++) await server.call({ path: `/v1/stranger-${i}` });
      expect(series(await metrics())).toBeLessThanOrEqual(before + 1);
    });

    it.each([
      'pilothouse_store_query_seconds_count',
      'pilothouse_store_commit_seconds_count',
      'pilothouse_store_changes_total',
      'nodejs_eventloop_lag_p99_seconds',
      'process_resident_memory_bytes',
    ])('shows %s', async (sample) => {
      expect(value(await metrics(), sample)).toBeGreaterThan(0);
    });

    it('contains no organization, key or token', async () => {
      const text = await metrics();
      for (const secret of [acme.id, acme.admin.keyId, acme.token, 'Acme']) expect(text).not.toContain(secret);
    });
  });
});

describe('the reference', () => {
  const server = useServer('libsql');

  it('/openapi.json is OpenAPI 3.1, public, and the same at /v1', async () => {
    const document = await server.call({ path: '/openapi.json' });
    const same = await server.call({ path: '/v1' });
    expect(document.json.openapi).toMatch(/^3\.1\./);
    expect(same.text).toBe(document.text);
    for (const path of [
      '/v1/organizations/{organizationId}/services/{serviceId}/scaling',
      '/v1/organizations/{organizationId}/keys',
      '/v1/organizations/{organizationId}/usageCost',
      '/api/v2/dashboards/{id}',
      '/api/v2/dashboards',
    ]) {
      expect(document.json.paths).toHaveProperty([path]);
    }
  });

  it('every operation has a unique id, a summary and its authentication scheme', async () => {
    const { json } = await server.call({ path: '/openapi.json' });
    const operations = Object.values<Record<string, { operationId: string; summary: string; security: object[] }>>(
      json.paths,
    ).flatMap((methods) => Object.values(methods));
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    const open = [
      'consoleSignIn',
      'consoleSetup',
      'consoleConfigGet',
      'consoleOidcSignIn',
      'consoleInvitationGet',
      'consoleInvitationAccept',
      'consoleBackChannelSignOut',
      'consoleFrontChannelSignOut',
    ];
    for (const { operationId, summary, security } of operations) {
      expect(summary, operationId).toMatch(/\S/);
      if (open.includes(operationId)) {
        expect(security, operationId).toEqual([]);
        continue;
      }
      expect(security, operationId).toHaveLength(1);
      expect(Object.keys(json.components.securitySchemes)).toContain(Object.keys(security[0] ?? {})[0]);
    }
  });

  it('/docs loads nothing from other hosts', async () => {
    const page = await fetch(`${server.url}/docs`);
    expect(page.status).toBe(200);
    const html = await page.text();
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    const requested = new Set<string>();
    await visit(page.url, html);
    expect([...requested].filter((url) => /\.(js|css)$/.test(url)).length).toBeGreaterThanOrEqual(3);

    async function visit(from: string, text: string): Promise<void> {
      for (const [, attribute, address] of text.matchAll(/(?:src|href)="([^"]+)"|url\(["']?([^"')]+)/g)) {
        const reference = attribute ?? address ?? '';
        if (/^(data:|#|$)/.test(reference)) continue;
        const url = new URL(reference, from);
        expect(url.origin, reference).toBe(server.url);
        if (!requested.has(url.href)) await load(url);
      }
    }

    async function load(url: URL): Promise<void> {
      requested.add(url.href);
      const asset = await fetch(url);
      expect(asset.status, url.href).toBe(200);
      const body = await asset.text();
      if (url.pathname.endsWith('.css')) await visit(url.href, body);
    }
  });
});
