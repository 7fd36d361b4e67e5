import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AppError } from '../../../kernel/errors.ts';
import { newUuid } from '../../../kernel/ids.ts';
import { createBackgroundLoop } from '../../../kernel/tasks/background-loop.ts';
import { type Clock, SECOND_MS } from '../../../kernel/time/clock.ts';
import { readDirectoryId } from '../../../platform/engine/directory-id.ts';
import type { Engine } from '../../../platform/engine/engine.ts';
import type { State } from '../../../platform/state/state.ts';
import type { Db } from '../../../platform/state/tables.ts';
import {
  deleteOwner,
  type EngineOwnerRecord,
  findLockedOwner,
  findOwner,
  putOwner,
  renewOwner,
} from './engine-store.ts';

interface Options {
  state: State;
  engine: Pick<Engine, 'kind'>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  dataDirectory: string;
  /** The process that owns the engine for this one; this process itself if omitted. */
  ownerNode?: string | undefined;
}

const RENEW_MS = 5 * SECOND_MS;
/** An owner that was not renewed for this long has stopped, or is suspended. */
const EXPIRE_MS = 15 * SECOND_MS;
const POLL_MS = 250;

export type EngineOwner = ReturnType<typeof createEngineOwner>;

/**
 * An embedded engine belongs to one process, so with one store only one node may use it: other nodes would neither see
 * its usage events nor the ids that it has counted. The owner is recorded in the store and renewed while it runs. With
 * a ClickHouse server, which all nodes share, there is no owner.
 */
export function createEngineOwner({ state, engine, clock, log, dataDirectory, ownerNode }: Options) {
  const node = ownerNode ?? newUuid();
  const isShared = engine.kind === 'server';
  let own: Omit<EngineOwnerRecord, 'renewedAt'> | undefined;
  let isOwner = false;
  let isFailing = false;

  const renewing = createBackgroundLoop({
    run: renew,
    everyMs: RENEW_MS,
    // Once per outage of the store.
    onError(error) {
      if (!isFailing) log.warn({ reason: (error as Error).message }, 'failed to renew the ownership of the engine');
      isFailing = true;
    },
  });

  /** Returns the owner that prevents it; undefined once this node is the owner. */
  async function tryToTake(canTake: (owner: EngineOwnerRecord, now: number) => boolean) {
    const now = await state.now();
    const record = { ...getOwn(), renewedAt: now };
    return state.write(async (tx) => {
      const owner = await findLockedOwner(tx, 'exclusive');
      if (owner && owner.node !== node && !canTake(owner, now)) return owner;
      await putOwner(tx, record);
      return undefined;
    });
  }

  async function renew(): Promise<void> {
    const now = await state.now();
    const isRenewed = await state.write((tx) => renewOwner(tx, node, now));
    const other = isRenewed ? undefined : await tryToTake(isExpired);
    if (other && isOwner)
      log.warn(
        { owner: describeOwner(other) },
        'another node owns the engine now: this node accepts and rates no usage',
      );
    if (!other && !isOwner) log.warn({}, 'this node owns the engine again');
    isOwner = other === undefined;
    isFailing = false;
  }

  /**
   * A live owner in the same directory may be the previous process, which was killed a moment ago. It is gone if its
   * process is, or if it is not renewed in time.
   */
  async function waitForExpiry(owner: EngineOwnerRecord): Promise<void> {
    const sinceMs = clock.monotonicMs();
    while (clock.monotonicMs() - sinceMs < EXPIRE_MS) {
      const current = await findOwner(state.db);
      if (!current) return;
      if (current.node !== owner.node || current.renewedAt !== owner.renewedAt) throw ownedByOther(current);
      await delay(POLL_MS);
    }
  }

  function getOwn() {
    own ??= { node, directory: readDirectoryId(dataDirectory), host: hostname(), pid: process.pid, address: '' };
    return own;
  }

  /** True if the process that owned the engine cannot be running any more. */
  function hasEnded(owner: EngineOwnerRecord): boolean {
    const { directory, host } = getOwn();
    return owner.directory === directory && owner.host === host && (owner.pid === process.pid || !isRunning(owner.pid));
  }

  async function acquire(): Promise<void> {
    const other = await tryToTake((owner, now) => isExpired(owner, now) || hasEnded(owner));
    if (!other) return;
    // A time in the future is from before the clock was set back, so its age is unknown.
    const isAgeKnown = other.renewedAt <= (await state.now());
    if (other.directory !== getOwn().directory && isAgeKnown) throw ownedByOther(other);
    await waitForExpiry(other);
    const next = await tryToTake((owner) => owner.node === other.node && owner.renewedAt === other.renewedAt);
    if (next) throw ownedByOther(next);
  }

  return {
    node,

    /** Whether this process is the only one that uses the engine, except for its workers. */
    isExclusive: !isShared && ownerNode === undefined,

    /** Becomes the owner and stays it until `close`. Throws `conflict` if another node is the owner. */
    async acquire(address: string): Promise<void> {
      if (isShared) return;
      own = { ...getOwn(), address };
      await acquire();
      isOwner = true;
      renewing.startAfterPause();
    },

    /** False while another node owns the engine, after this one was suspended. */
    isOwner: (): boolean => isShared || !renewing.isStarted() || isOwner,

    /**
     * Throws unless this node may use the engine; it stays so until the transaction ends. A command that never acquired
     * the engine may use it while no node does, or in the directory of the owner, where the engine admits one process.
     */
    async require(tx: Db): Promise<void> {
      if (isShared) return;
      const owner = await findLockedOwner(tx, 'shared');
      if (owner?.node === node) return;
      if (!renewing.isStarted() && (!owner || owner.directory === getOwn().directory)) return;
      throw new AppError('unavailable', owner ? formatOwned(owner) : NO_OWNER, { retryAfterSeconds: 5 });
    },

    /** Why a server of this data directory would not start now; undefined if it would. */
    async findObstacle(): Promise<string | undefined> {
      const owner = isShared ? undefined : await findOwner(state.db);
      if (!owner || owner.directory === getOwn().directory || isExpired(owner, await state.now())) return undefined;
      return formatOwned(owner);
    },

    async close(): Promise<void> {
      await renewing.close();
      if (!renewing.isStarted()) return;
      await state
        .write((tx) => deleteOwner(tx, node))
        .catch((error: Error) => {
          log.warn({ reason: error.message }, 'failed to release the engine; another node must wait 15 seconds');
        });
    },
  };
}

const isExpired = ({ renewedAt }: EngineOwnerRecord, now: number): boolean => now - renewedAt >= EXPIRE_MS;

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const NO_OWNER = 'This node lost the ownership of the embedded engine; it is acquired again within seconds';

const describeOwner = ({ host, pid, address }: EngineOwnerRecord): string =>
  `${host}, process ${pid}${address === '' ? '' : `, ${address}`}`;

const formatOwned = (owner: EngineOwnerRecord): string =>
  `Another node owns the embedded engine of this database: ${describeOwner(owner)}; give all nodes the same --clickhouse-url, or run one node only`;

const ownedByOther = (owner: EngineOwnerRecord): AppError => new AppError('conflict', formatOwned(owner));
