import { describe, expect, it } from 'vitest';
import { stripBasePath } from './base-path.ts';

describe('a URL below a base path', () => {
  it.each([
    ['/x', '/'],
    ['/x/', '/'],
    ['/x?a=b', '/?a=b'],
    ['/x/v1/organizations?a=/x', '/v1/organizations?a=/x'],
    ['/x/x/v1', '/x/v1'],
    ['/x//v1', '//v1'],
    ['http://host/x/v1', '/v1'],
    ['HTTPS://host:8443/x', '/'],
    ['/x/%2e%2e/v1', '/%2e%2e/v1'],
  ])('%s is routed as %s', (url, path) => {
    expect(stripBasePath('/x', url)).toBe(path);
  });

  it.each(['/', '/v1', '/xy', '/x%2fv1', '/X/v1', '//x/v1', '', '*', 'http://host', 'http://host/v1'])(
    '%s is outside the base path',
    (url) => {
      expect(stripBasePath('/x', url)).toMatch(/^\/\//);
    },
  );

  it('without a base path, URLs stay unchanged', () => {
    for (const url of ['/', '/v1', 'http://host/v1', '*', '']) expect(stripBasePath('', url)).toBe(url);
  });
});
