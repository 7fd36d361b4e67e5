import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRequestUrl } from './request-url.ts';

describe('the URL of a query', () => {
  it('credentials are read and not forwarded, other parameters stay as they were sent', () => {
    const url = parseRequestUrl(
      '/?user=default&query=SELECT%201&password=a%2Bb+c%C3%A9&quota_key=q&database=x%20y&empty&',
    );
    expect(url).toMatchObject({ path: '/', user: 'default', password: 'a+b cé', statement: 'SELECT 1' });
    expect(url.forwarded).toBe('query=SELECT%201&quota_key=q&database=x%20y&empty');
  });

  it.each([
    '/?%75ser=x&pass%77ord=y',
    '/?us%65r=x&%70%61%73%73%77%6F%72%64=y',
    '/?user=x&password=y&user=z&password=w',
    '/?&&user=x&&password=y&&',
  ])('%s: however the names are written, and the first counts', (text) => {
    expect(parseRequestUrl(text)).toMatchObject({ user: 'x', password: 'y', forwarded: '' });
  });

  it('names that only resemble those of credentials are forwarded', () => {
    const text = 'User=a&user_x=b&xuser=c&us+er=d&user%00=e&param_user=f';
    expect(parseRequestUrl(`/?${text}`)).toMatchObject({ user: undefined, forwarded: text });
  });

  it('progress in headers is not supported', () => {
    expect(parseRequestUrl('/?send_progress_in_http_headers=1&query=x').forwarded).toBe('query=x');
  });

  it('no forwarded parameter is a credential for a parser that decodes', () => {
    const part = fc.constantFrom(
      'user',
      'password',
      '%75ser',
      'query',
      '=',
      '&',
      '%',
      '+',
      'a',
      '%26',
      '%3D',
      '?',
      '#',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const { forwarded } = parseRequestUrl(`/?${parts.join('')}`);
        // URLSearchParams would drop a question mark at the beginning.
        const names = [...new URLSearchParams(`&${forwarded}`).keys()];
        expect(names.filter((name) => name === 'user' || name === 'password')).toEqual([]);
      }),
      { numRuns: 5000 },
    );
  });

  it('of a long statement only the beginning is read', () => {
    const { statement, forwarded } = parseRequestUrl(`/?query=SELECT+'${'%61'.repeat(100_000)}'`);
    expect(statement).toHaveLength(4096);
    expect(forwarded).toHaveLength(300_015);
  });
});
