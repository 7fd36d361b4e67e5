// The engine alone: ClickHouse as the server starts it, in a separate directory, with the same tables.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startListener } from './listener.mjs';

const migrations = join(import.meta.dirname, '../migrations/engine');

/** `elements` are added to the configuration. */
export async function openEngine(directory, memoryBytes = 2 * 2 ** 30, elements = '') {
  const listener = await startListener(directory, Math.floor(memoryBytes * 0.6), { elements });
  await listener.untilAnswer();

  /** `body` has the rows of an INSERT. */
  async function run(sql, body) {
    const response = await fetch(`${listener.url}/?query=${encodeURIComponent(sql)}`, {
      method: 'POST',
      body: body ?? '',
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  }

  await run('CREATE DATABASE IF NOT EXISTS pilothouse');
  for (const file of readdirSync(migrations).sort()) {
    const text = readFileSync(join(migrations, file), 'utf8').replace(/^\s*--.*$/gm, '');
    for (const statement of text.split(/;\s*$/m)) if (statement.trim() !== '') await run(statement);
  }
  // The server adds this one when it starts, see platform/engine/tables/text-index.ts.
  await run(
    'ALTER TABLE pilothouse.otel_logs ADD INDEX IF NOT EXISTS body_words lower(Body) TYPE text(tokenizer = splitByNonAlpha)',
  );
  return {
    run,
    /** For a server that uses this engine. */
    url: listener.url,
    pid: listener.pid,
    close: () => listener.stop(),
  };
}
