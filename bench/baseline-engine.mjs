// The engine alone: the same program that the server starts, in a separate directory, with the same tables.
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;
const migrations = join(here, '../migrations/engine');

export async function openEngine(directory, memoryBytes = 2 * 2 ** 30) {
  const passwords = { reader: randomUUID(), writer: randomUUID() };
  const child = fork(join(here, '../dist/engine.js'), [], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { TZ: 'UTC', UV_THREADPOOL_SIZE: '14' },
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const report = new Promise((resolve, reject) => {
    child.once('message', resolve);
    void ended.then(() => reject(new Error('the engine did not start')));
  });
  child.send({
    open: {
      directory,
      passwords,
      serverMemoryBytes: Math.floor(memoryBytes * 0.6),
      queryMemoryBytes: Math.floor(memoryBytes * 0.36),
      readers: 8,
      writers: 2,
    },
  });
  const { ready, failed } = await report;
  if (failed) throw new Error(failed.text);

  /** `body` has the rows of an INSERT. */
  async function run(sql, body) {
    const url = `http://127.0.0.1:${ready.port}/?query=${encodeURIComponent(sql)}`;
    const authorization = `Basic ${Buffer.from(`writer:${passwords.writer}`).toString('base64')}`;
    const response = await fetch(url, { method: 'POST', headers: { authorization }, body: body ?? '' });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  }

  await run('CREATE DATABASE IF NOT EXISTS pilothouse');
  for (const file of readdirSync(migrations).sort()) {
    const text = readFileSync(join(migrations, file), 'utf8').replace(/^\s*--.*$/gm, '');
    for (const statement of text.split(/;\s*$/m)) if (statement.trim() !== '') await run(statement);
  }
  return {
    run,
    /** For a server that uses this engine. */
    url: `http://writer:${passwords.writer}@127.0.0.1:${ready.port}`,
    close() {
      if (child.connected) child.send({ close: true });
      return ended;
    },
  };
}
