import { expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { createKey, keysPath, postKey, readWithKey } from '../support/keys.ts';
import { onEachStore, useServer } from '../support/server.ts';

const RULE = 'The value must be an IPv4 or IPv6 address or a CIDR';

onEachStore('the IP access list of a key', (store) => {
  const server = useServer(store, { args: ['--max-keys', '10000', '--trust-proxy', '127.0.0.1/32'] });
  const from = (address: string) => ({ 'x-forwarded-for': address });

  it.each([
    ['203.0.113.7'],
    ['0.0.0.0/0'],
    ['203.0.113.0/24'],
    ['203.0.113.77/24'],
    ['203.0.113.7/32'],
    ['::/0'],
    ['::1'],
    ['2001:db8::/32'],
    ['2001:db8::77/32'],
    ['2001:DB8:0:0:0:0:0:1'],
    ['::ffff:203.0.113.7'],
  ])('K6: accepts the source %s and returns it unchanged', async (source) => {
    const { status, json } = await postKey(server, { ipAccessList: [{ source }] });
    expect(status).toBe(200);
    expect(json.result.key.ipAccessList).toEqual([{ source }]);
  });

  it.each([
    ['127.1'],
    ['2130706433'],
    ['0x7f000001'],
    ['010.0.0.1'],
    ['256.0.0.1'],
    ['203.0.113.7/33'],
    ['203.0.113.7/-1'],
    ['203.0.113.7/'],
    ['203.0.113.7/08'],
    ['203.0.113.7/24/24'],
    ['203.0.113.7/255.255.255.0'],
    ['2001:db8::/129'],
    ['2001:db8:::1'],
    ['fe80::1%eth0'],
    ['[::1]'],
    ['localhost'],
    ['*'],
    [' 203.0.113.7'],
    ['203.0.113.7,203.0.113.8'],
    [''],
  ])('K6, M3: rejects the source %j with its path', async (source) => {
    const { status, json } = await postKey(server, { ipAccessList: [{ source: '203.0.113.1' }, { source }] });
    expect(status).toBe(400);
    expect(json.error).toBe(`BAD_REQUEST: request body.ipAccessList[1].source: ${RULE} <string:${source}>`);
  });

  it.each([
    [[{}], 'ipAccessList[0].source: The value is required <missing>'],
    [[{ source: null }], 'ipAccessList[0].source: The value must be a string <null>'],
    [[{ source: 7 }], 'ipAccessList[0].source: The value must be a string <number:7>'],
    [['203.0.113.7'], 'ipAccessList[0]: The value must be an object <string:203.0.113.7>'],
    [[null], 'ipAccessList[0]: The value must be an object <null>'],
    ['203.0.113.7', 'ipAccessList: The value must be an array <string:203.0.113.7>'],
    [[{ source: '::1', description: 7 }], 'ipAccessList[0].description: The value must be a string <number:7>'],
  ])('K6, M3: rejects the list %j', async (ipAccessList, rule) => {
    const { status, json } = await postKey(server, { ipAccessList });
    expect(status).toBe(400);
    expect(json.error).toBe(`BAD_REQUEST: request body.${rule}`);
  });

  it('K6, B4: a description is optional, null omits it, and unknown fields are dropped', async () => {
    const ipAccessList = [
      { source: '::1', description: 'home' },
      { source: '::2', description: null },
      { source: '::3', description: '' },
      { source: '::4', note: 'x' },
    ];
    const { json } = await postKey(server, { ipAccessList });
    expect(json.result.key.ipAccessList).toEqual([
      { source: '::1', description: 'home' },
      { source: '::2' },
      { source: '::3', description: '' },
      { source: '::4' },
    ]);
    const again = await server.call({ path: `${keysPath()}/${json.result.key.id}`, key: acme.admin });
    expect(again.json.result.ipAccessList).toEqual(json.result.key.ipAccessList);
  });

  it.each([
    [[], '198.51.100.1', 200],
    [['203.0.113.7'], '203.0.113.7', 200],
    [['203.0.113.7'], '203.0.113.8', 403],
    [['203.0.113.0/24'], '203.0.113.255', 200],
    [['203.0.113.77/24'], '203.0.113.1', 200],
    [['203.0.113.0/24'], '203.0.114.0', 403],
    [['198.51.100.1', '203.0.113.7'], '203.0.113.7', 200],
    [['0.0.0.0/0'], '198.51.100.1', 200],
    [['0.0.0.0/0'], '2001:db8::1', 403],
    [['::/0'], '2001:db8::1', 200],
    [['::/0'], '198.51.100.1', 403],
    [['2001:db8::77/32'], '2001:db8:ffff::1', 200],
    [['2001:db8::1'], '2001:0DB8:0:0::0001', 200],
    [['203.0.113.7'], '::ffff:203.0.113.7', 200],
    [['203.0.113.7'], '::ffff:cb00:7107', 200],
    [['::ffff:203.0.113.0/120'], '203.0.113.9', 200],
    [['203.0.113.7'], 'unknown', 403],
  ])('K6, B9: a key limited to %j and used from %s gets status %i', async (sources, address, status) => {
    const { credentials } = await createKey(server, { ipAccessList: sources.map((source) => ({ source })) });
    const response = await readWithKey(server, credentials, from(address));
    expect(response.status).toBe(status);
    if (status === 403) expect(response.json.error).toMatch(/^FORBIDDEN: This key may not be used from /);
  });
});
