import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { toStoreError } from '../../state/failures.ts';
import { readJsonText } from './read-body.ts';

it('a client that closes the connection during an upload is not an unavailable store', async () => {
  const body = new Readable({ read() {} });
  const failure = new Promise<Error | null>((resolve) => {
    readJsonText(body, { maxBytes: 1024, maxValues: 10, maxDepth: 10 }, resolve);
  });
  body.push('{"name":');
  body.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
  const expected = { code: 'bad_request', message: 'The request body ended too early' };
  expect(toStoreError(await failure)).toMatchObject(expected);
});
