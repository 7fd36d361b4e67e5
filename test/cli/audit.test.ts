import { expect, it } from 'vitest';
import { getServerStore, type Json, listErrors } from '../support/cli.ts';
import { acme, globex } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';

onEachStore('audit verify', (store) => {
  const server = useServer(store);
  const run = (...args: string[]) => getServerStore(server).run('audit', 'verify', ...args);
  const verify = async (...args: string[]): Promise<{ code: number | null; results: Json[]; errors: string[] }> => {
    const finished = await run('--json', ...args);
    return { code: finished.code, results: JSON.parse(finished.stdout), errors: listErrors(finished) };
  };
  const find = (results: Json[], id: string): Json => results.find(({ organizationId }) => organizationId === id);

  it('passes next to a running server, prints the heads, and checks a head that was noted', async () => {
    const { code, results } = await verify();
    expect(code).toBe(0);
    expect(results.map(({ intact }) => intact)).toEqual(results.map(() => true));
    const { head, verified } = find(results, acme.id);
    expect(head).toMatch(new RegExp(`^${verified}:[0-9a-f]{64}$`));
    await createKey(server, { name: 'later' });
    expect((await verify('--org', 'Acme', '--expect-head', head)).code).toBe(0);
    const other = find(results, globex.id).head.split(':')[1];
    const wrong = await verify('--org', 'Acme', '--expect-head', `${verified}:${other}`);
    expect([wrong.code, wrong.results[0].problem]).toMatchObject([1, { kind: 'changed', number: verified }]);
    const beyond = await verify('--org', 'Acme', '--expect-head', `${verified + 100}:${other}`);
    expect([beyond.code, beyond.results[0].problem]).toMatchObject([1, { kind: 'removed', number: verified + 2 }]);
  });

  it('rejects options that it cannot check', async () => {
    const unnamed = await run('--expect-head', `1:${'0'.repeat(64)}`);
    expect(unnamed).toMatchObject({ code: 2, stdout: '' });
    expect(unnamed.stderr).toContain('--expect-head needs --org');
    expect((await run('--org', 'Acme', '--expect-head', '1')).stderr).toContain('--expect-head must look like 42:');
    expect(await run('--org', 'Umbrella')).toMatchObject({ code: 1 });
  });

  it('fails and names the first bad activity and its organization, and no other one', async () => {
    const { id } = await createKey(server, { name: 'tampered' });
    await createKey(server, { name: 'after it' });
    const where = `organization_id = '${acme.id}' AND resource_id = '${id}'`;
    const [row] = await runSql(server, `SELECT id, sequence FROM activities WHERE ${where}`);
    await runSql(server, `UPDATE activities SET document = replace(document, 'tampered', 'harmless') WHERE ${where}`);
    const { code, results, errors } = await verify();
    expect(code).toBe(1);
    expect(results.filter(({ intact }) => !intact)).toMatchObject([
      { organizationId: acme.id, problem: { kind: 'changed', number: Number(row?.sequence), activityId: row?.id } },
    ]);
    expect(errors).toEqual([expect.stringContaining(`The audit log of Acme is not intact: activity ${row?.id}`)]);
    const table = await run();
    expect([table.code, table.stdout]).toEqual([1, expect.stringMatching(/Acme +changed /)]);
    await runSql(server, `DELETE FROM activities WHERE ${where}`);
    const removed = await verify('--org', acme.id);
    expect(removed).toMatchObject({ code: 1, results: [{ problem: { kind: 'removed', activityId: null } }] });
  });
});
