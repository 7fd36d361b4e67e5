import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type BodyKey, createRenderedDashboards, renderBody } from './rendered-dashboards.ts';

const MIB = 1024 * 1024;

const key = (organizationId: string, revision = 1, name = 'x'): BodyKey => ({ organizationId, revision, name });

describe('rendered dashboards', () => {
  it('are cached per organization and dashboard until the revision changes', async () => {
    const rendered = createRenderedDashboards();
    const body = await rendered.render(key('a'), 'identity', async () => renderBody('{}'));
    expect(rendered.find(key('a'), 'identity')).toBe(body);
    expect(rendered.find(key('a', 1, 'y'), 'identity')).toBeUndefined();
    expect(rendered.find(key('b'), 'identity')).toBeUndefined();
    expect(rendered.find(key('a', 2), 'identity')).toBeUndefined();
    const newer = await rendered.render(key('a', 2), 'identity', async () => renderBody('{"name":"new"}'));
    expect(rendered.find(key('a', 2), 'identity')).toBe(newer);
    expect(rendered.find(key('a'), 'identity')).toBeUndefined();
  });

  it('use a bounded amount of memory', async () => {
    const rendered = createRenderedDashboards();
    for (let organization = 0; organization < 100; organization++)
      await rendered.render(key(`o${organization}`), 'identity', async () => renderBody('x'.repeat(MIB)));
    const cached = Array.from({ length: 100 }, (_, index) => index).filter((index) =>
      rendered.find(key(`o${index}`), 'identity'),
    );
    expect(cached.length).toBeLessThanOrEqual(32);
    expect(cached.at(-1)).toBe(99);
    await rendered.render(key('huge'), 'identity', async () => renderBody('x'.repeat(40 * MIB)));
    expect(rendered.find(key('huge'), 'identity')).toBeUndefined();
    const small = await rendered.render(key('small'), 'identity', async () => renderBody('{}'));
    expect(rendered.find(key('small'), 'identity')).toBe(small);
  });

  it('are compressed once; short bodies are not compressed', async () => {
    const rendered = createRenderedDashboards();
    const long = await rendered.render(key('a'), 'identity', async () => renderBody(JSON.stringify('x'.repeat(5000))));
    const compressed = await rendered.render(key('a'), 'gzip', async () => expect.fail('rendered twice'));
    expect(gunzipSync(compressed.bytes)).toEqual(long.bytes);
    expect(rendered.find(key('a'), 'gzip')).toBe(compressed);
    expect(compressed.etag).not.toBe(long.etag);
    const short = renderBody('{}');
    expect(await rendered.render(key('b'), 'br', async () => short)).toBe(short);
    expect(rendered.find(key('b'), 'br')).toBe(short);
  });
});
