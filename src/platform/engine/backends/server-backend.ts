import type { ClickHouseSettings } from '@clickhouse/client';
import type { Logger } from 'pino';
import { limitTime } from '../../../kernel/tasks/time-limit.ts';
import { SECOND_MS } from '../../../kernel/time/clock.ts';
import { CLUSTER_READ_SETTINGS, checkCluster } from '../cluster/cluster.ts';
import type { Limits } from '../engine.ts';
import { notResponding, toEngineError, unavailable } from '../failures.ts';
import type { EngineObserver } from '../observer.ts';
import { type Backend, type Connection, toReadSettings } from './backend.ts';
import { openClient } from './client.ts';
import { createSharedAttempt } from './shared-attempt.ts';

interface Options {
  url: string;
  /** Our tables are on all shards of this cluster. */
  cluster?: string | undefined;
  log: Pick<Logger, 'warn'>;
  observer: EngineObserver;
}

const DEFAULT_MEMORY_BYTES = 4 * 2 ** 30;
const CONCURRENCY = 32;
const CONNECT_TIMEOUT_MS = 10 * SECOND_MS;

/** An external ClickHouse server. */
export function createServerBackend({ url, cluster, log, observer }: Options): Backend {
  const connection = createSharedAttempt(open);
  let isConnected = false;
  let isClosed = false;

  async function open(): Promise<Connection> {
    const client = await openClient({ url });
    const timeout = limitTime(CONNECT_TIMEOUT_MS);
    try {
      // The user's profile decides which settings we may send.
      const result = await client.query({
        query: "SELECT toUInt8(getSetting('readonly'))",
        format: 'TabSeparated',
        abort_signal: timeout,
      });
      const readOnly = Number(await result.text());
      if (readOnly === 1)
        log.warn(
          'the profile of the ClickHouse user has readonly = 1: the limits of the profile apply instead of those of Pilothouse',
        );
      if (cluster !== undefined) await checkCluster(client, cluster, timeout);
      isConnected = true;
      observer.running(true);
      return {
        reader: client,
        writer: client,
        readSettings: (limits) => settingsFor(readOnly, limits, cluster),
        mayLackPrivileges: true,
        defaultMemoryBytes: DEFAULT_MEMORY_BYTES,
        cluster,
      };
    } catch (error) {
      await client.close();
      if (timeout.aborted) throw notResponding(error);
      throw toEngineError(error, { maxSeconds: 0, maxResultRows: 0, maxResultBytes: 0, maxMemoryBytes: 0 });
    }
  }

  return {
    kind: 'server',
    concurrency: CONCURRENCY,
    connect() {
      return isClosed ? Promise.reject(unavailable('The engine is closed')) : connection.get();
    },
    isRunning: () => isConnected,
    async close() {
      isClosed = true;
      const opened = await connection.find()?.catch(() => undefined);
      isConnected = false;
      observer.running(false);
      await opened?.reader.close();
    },
  };
}

/** The profile's `readonly`: 1 allows no settings, 2 allows all settings except `readonly`. */
function settingsFor(readOnly: number, limits: Required<Limits>, cluster: string | undefined): ClickHouseSettings {
  if (readOnly === 1) return {};
  const { readonly, ...settings } = { ...toReadSettings(limits), ...(cluster !== undefined && CLUSTER_READ_SETTINGS) };
  return readOnly === 2 ? settings : { ...settings, readonly };
}
