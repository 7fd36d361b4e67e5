import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { parseRequestUrl, type RequestUrl } from './request-url.ts';

function parse(text: string): RequestUrl {
  const url = parseRequestUrl(text);
  if (!url) throw new Error('the URL has too many parameters');
  return url;
}

describe('the URL of a query', () => {
  it('credentials are read and not forwarded, other parameters stay as they were sent', () => {
    const url = parse('/?user=default&query=SELECT%201&password=a%2Bb+c%C3%A9&quota_key=q&database=x%20y&empty&');
    expect(url).toMatchObject({ path: '/', user: 'default', password: 'a+b cé', statement: 'SELECT 1' });
    expect(url.forwarded).toBe('query=SELECT%201&quota_key=q&database=x%20y&empty');
  });

  it.each([
    '/?%75ser=x&pass%77ord=y',
    '/?us%65r=x&%70%61%73%73%77%6F%72%64=y',
    '/?user=x&password=y&user=z&password=w',
    '/?&&user=x&&password=y&&',
    '/?User=x&PASSWORD=y&user=z&password=w',
    '/?%55SER=x&PASS%57ord=y',
  ])('%s: however the names are written, and the first counts', (text) => {
    expect(parse(text)).toMatchObject({ user: 'x', password: 'y', forwarded: '' });
  });

  it('names that only resemble those of credentials are forwarded', () => {
    const text = 'user_x=b&xuser=c&us+er=d&user%00=e&param_user=f';
    expect(parse(`/?${text}`)).toMatchObject({ user: undefined, forwarded: text });
  });

  it('progress in headers is not supported', () => {
    expect(parse('/?send_progress_in_http_headers=1&query=x').forwarded).toBe('query=x');
    expect(parse('/?Send_Progress_In_HTTP_Headers=1&query=x').forwarded).toBe('query=x');
  });

  it('the case of a name does not matter, as in ClickHouse', () => {
    const url = parse('/?QUERY=SELECT+1&Query_ID=a&DECOMPRESS=1&query=SELECT+2&query_id=b');
    expect(url).toMatchObject({ statement: 'SELECT 1', queryId: 'a', isDecompressed: true });
  });

  it('more than 1,000 parameters are not parsed, empty ones included', () => {
    expect(parse(`/?${'a&'.repeat(999)}user=x`)).toMatchObject({ user: 'x' });
    for (const text of ['a&'.repeat(1000), 'a=1&'.repeat(512_000), '&'.repeat(1000)])
      expect(parseRequestUrl(`/?${text}`)).toBeUndefined();
  });

  it('each parameter is searched for its own equals sign only', () => {
    const searched: number[] = [];
    const search = vi.spyOn(String.prototype, 'indexOf').mockImplementation(function (this: string, text, from = 0) {
      const at = this.slice(from).split(text as string, 1)[0]?.length ?? 0;
      const isFound = from + at < this.length;
      searched.push(isFound ? at + 1 : this.length - from);
      return isFound ? from + at : -1;
    });
    const text = `/?${'a&'.repeat(999)}user=x`;
    const { user } = parse(text);
    search.mockRestore();
    expect(user).toBe('x');
    expect(searched.reduce((sum, characters) => sum + characters, 0)).toBeLessThanOrEqual(text.length);
  });

  it('no forwarded parameter is a credential for a parser that decodes', () => {
    const part = fc.constantFrom(
      'user',
      'password',
      '%75ser',
      'USER',
      'Pass%57ord',
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
        const { forwarded } = parse(`/?${parts.join('')}`);
        // URLSearchParams would drop a question mark at the beginning.
        const names = [...new URLSearchParams(`&${forwarded}`).keys()];
        expect(names.filter((name) => /^(user|password)$/i.test(name))).toEqual([]);
      }),
      { numRuns: 5000 },
    );
  });

  it('of a long statement only the beginning is read', () => {
    const { statement, forwarded } = parse(`/?query=SELECT+'${'%61'.repeat(100_000)}'`);
    expect(statement).toHaveLength(4096);
    expect(forwarded).toHaveLength(300_015);
  });
});
