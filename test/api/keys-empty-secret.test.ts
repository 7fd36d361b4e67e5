import { expect, it } from 'vitest';
import { UNLIMITED } from '../../src/management/hand-outs/caller.ts';
import { createKeyAuthentication } from '../../src/management/keys/authentication.ts';
import { useBilling } from '../support/billing.ts';
import { sha256, toHashData } from '../support/keys.ts';
import { onEachStore } from '../support/server.ts';

const organizationId = '7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d';
const actor = { type: 'system', id: 'test', details: 'test' } as const;

onEachStore('a key that an earlier version stored with the hash of an empty secret', (store) => {
  const test = useBilling(store);

  it('K7: cannot authenticate', async () => {
    const { domains, state, clock } = test;
    await domains.fleet.apply({ organizations: [{ id: organizationId, name: 'Acme' }] }, actor);
    const hashData = { ...toHashData({ keyId: 'id-without-secret', keySecret: 'x' }), keySecretHash: sha256('') };
    await domains.keys.create(actor, organizationId, { caller: UNLIMITED }, hashData);
    await domains.keys.create(
      actor,
      organizationId,
      { caller: UNLIMITED },
      toHashData({ keyId: 'good', keySecret: 'good-secret' }),
    );
    const authenticate = createKeyAuthentication({ ...domains, db: state.db, clock });
    const send = async (text: string) => authenticate(`Basic ${Buffer.from(text).toString('base64')}`);
    expect(await send('good:good-secret')).toMatchObject({ organizationId });
    await expect(send('id-without-secret:')).rejects.toMatchObject({
      code: 'unauthorized',
      message: 'Key is not found',
    });
    // Stores the last use of the key before the store is closed.
    await domains.close();
  });
});
