import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ENGINE_SETTINGS, READER_GRANTS, WRITER_GRANTS } from '../../src/platform/engine/backends/configuration.ts';
import { findInstallation } from '../../src/platform/listener/installation.ts';
import { startListener } from '../../src/platform/listener/listener.ts';

export const PASSWORDS = { reader: 'the-readers', writer: 'the-writers', monitor: 'the-monitors' };

const MEBIBYTE = 2 ** 20;

export interface ClickHouseServer {
  pid: number;
  port: number;
  close(): Promise<void>;
}

/** A ClickHouse server for `--clickhouse-url`: a user that may create tables and write, and one that is read-only. */
export async function startClickHouseServer(directory: string): Promise<ClickHouseServer> {
  const installation = findInstallation();
  if ('obstacle' in installation) expect.fail(installation.obstacle);
  const data = join(directory, 'data');
  mkdirSync(data, { recursive: true });
  const settings = { max_memory_usage: 300 * MEBIBYTE };
  const { pid, address, kill, ended } = await startListener({
    ...installation,
    folder: join(directory, 'configuration'),
    data,
    logFile: join(data, 'clickhouse.log'),
    memoryBytes: 700 * MEBIBYTE,
    users: [
      { name: 'writer', password: PASSWORDS.writer, grants: WRITER_GRANTS, settings },
      {
        name: 'monitor',
        password: PASSWORDS.monitor,
        grants: ['GRANT SELECT ON system.processes', 'GRANT SHOW USERS ON *.*'],
      },
      { name: 'reader', password: PASSWORDS.reader, grants: READER_GRANTS, settings: { ...settings, readonly: 1 } },
    ],
    server: ENGINE_SETTINGS,
    log: { debug() {} },
  });
  return {
    pid,
    port: address.port,
    async close() {
      kill();
      await ended;
    },
  };
}

export const getWriterUrl = ({ port }: ClickHouseServer): string =>
  `http://writer:${PASSWORDS.writer}@127.0.0.1:${port}`;
