import { beforeAll, describe, expect, it } from 'vitest';
import type { Credentials } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { createKey, readWithKey } from '../support/keys.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';

onEachStoreInLongRuns('the client address', (store) => {
  describe('without a trusted proxy', () => {
    const server = useServer(store);

    it.each([['203.0.113.7'], ['127.0.0.1, 203.0.113.7'], ['203.0.113.7, 127.0.0.1']])(
      'B9: ignores X-Forwarded-For: %s',
      async (header) => {
        const { credentials } = await createKey(server, { ipAccessList: [{ source: '203.0.113.7' }] });
        const { status, json } = await readWithKey(server, credentials, { 'x-forwarded-for': header });
        expect([status, json.error]).toEqual([403, 'FORBIDDEN: This key may not be used from 127.0.0.1']);
      },
    );

    it('K6: accepts a key limited to the address of the socket', async () => {
      const { credentials } = await createKey(server, { ipAccessList: [{ source: '127.0.0.1' }] });
      expect((await readWithKey(server, credentials, { 'x-forwarded-for': '203.0.113.7' })).status).toBe(200);
    });
  });

  describe('behind the proxy 127.0.0.1', () => {
    const server = useServer(store, { args: ['--trust-proxy', '127.0.0.1/32,10.0.0.0/8'] });
    let office: Credentials;
    beforeAll(async () => {
      office = (await createKey(server, { ipAccessList: [{ source: '203.0.113.7' }] })).credentials;
    });

    it.each([
      ['203.0.113.7', undefined],
      ['198.51.100.9, 203.0.113.7', undefined],
      ['203.0.113.7, 10.1.2.3', undefined],
      ['203.0.113.7, 10.1.2.3, 127.0.0.1', undefined],
      ['::ffff:203.0.113.7', undefined],
      ['203.0.113.7:51234', undefined],
      [' 203.0.113.7 ,', undefined],
      ['203.0.113.7, 198.51.100.9', '198.51.100.9'],
      ['203.0.113.7, 198.51.100.9, 10.1.2.3', '198.51.100.9'],
      ['203.0.113.7, unknown', 'unknown'],
      ['10.1.2.3', '10.1.2.3'],
      ['[2001:DB8::1]:443', '2001:db8::1'],
      ['', '127.0.0.1'],
    ])('B9: X-Forwarded-For: %s: uses the right-most address that is not a proxy', async (header, rejected) => {
      const { status, json } = await readWithKey(server, office, { 'x-forwarded-for': header });
      if (rejected === undefined) expect(status).toBe(200);
      else expect([status, json.error]).toEqual([403, `FORBIDDEN: This key may not be used from ${rejected}`]);
    });

    it('B9: without the header, the proxy is the client', async () => {
      expect((await readWithKey(server, office)).json.error).toBe('FORBIDDEN: This key may not be used from 127.0.0.1');
      expect((await readWithKey(server, acme.admin)).status).toBe(200);
    });
  });
});
