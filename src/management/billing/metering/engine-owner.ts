import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AppError } from '../../../kernel/errors.ts';
import { newUuid } from '../../../kernel/ids.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { readDirectoryId } from '../../../platform/engine/directory-id.ts';
import type { Engine } from '../../../platform/engine/engine.ts';
import { createLease, EXPIRE_MS } from '../../../platform/leases/lease.ts';
import { fence } from '../../../platform/leases/session.ts';
import { findLease, findLockedLease, type Lease } from '../../../platform/leases/store.ts';
import type { State } from '../../../platform/state/state.ts';
import type { Db } from '../../../platform/state/tables.ts';

interface Options {
  state: State;
  engine: Pick<Engine, 'kind'>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  dataDirectory: string;
  /** The process that owns the engine for this one; this process itself if omitted. */
  ownerNode?: string | undefined;
}

/** Who holds the lease, as the text that identifies its holder. */
interface Holder {
  /** Identifies one run of the server. */
  node: string;
  /** Identifies the data directory, whatever its path. */
  directory: string;
  address: string;
}

const LEASE = 'engine';
const POLL_MS = 250;

export type EngineOwner = ReturnType<typeof createEngineOwner>;

/**
 * An embedded engine belongs to one process, so with one store only one node may use it: other nodes would neither see
 * its usage events nor the ids that it has counted. The owner has a lease. With a ClickHouse server, which all nodes
 * share, there is no owner.
 */
export function createEngineOwner({ state, engine, clock, log, dataDirectory, ownerNode }: Options) {
  const node = ownerNode ?? newUuid();
  const isShared = engine.kind === 'server';
  let lease: ReturnType<typeof createLease> | undefined;
  /** The lease of another node that has taken the engine over. */
  let other: Lease | undefined;
  let losses = 0;

  const isSameDirectory = (owner: Lease): boolean => toHolder(owner).directory === readDirectoryId(dataDirectory);

  function openLease(address: string) {
    const holder: Holder = { node, directory: readDirectoryId(dataDirectory), address };
    return createLease({
      state,
      clock,
      log,
      name: LEASE,
      holder: JSON.stringify(holder),
      isVisible: isSameDirectory,
      onChange(_, next) {
        if (!lease) return;
        if (next) losses++;
        if (next)
          log.warn(
            { owner: describeOwner(next) },
            'another node owns the engine now: this node accepts and rates no usage',
          );
        else if (other) log.warn({}, 'this node owns the engine again');
        other = next;
      },
    });
  }

  /**
   * A live owner in the same directory may be the previous process, which was killed a moment ago. It is gone if its
   * process is, or if it is not renewed in time.
   */
  async function acquire(own: ReturnType<typeof openLease>): Promise<void> {
    const first = await own.tryToHold();
    if (!first) return;
    // A time in the future is from before the clock was set back, so its age is unknown.
    const isAgeKnown = first.renewedAt <= (await state.now());
    if (!isSameDirectory(first) && isAgeKnown) throw ownedByOther(first);
    for (let next: Lease | undefined = first; next; next = await own.tryToHold()) {
      if (next.holder !== first.holder || next.renewedAt !== first.renewedAt) throw ownedByOther(next);
      await delay(POLL_MS);
    }
  }

  /**
   * Throws unless this node may use the engine; it stays so until the transaction ends. A command that never acquired
   * the engine may use it while no node does, or in the directory of the owner, where the engine admits one process.
   */
  async function requireOwner(tx: Db): Promise<void> {
    if (isShared) return;
    const owner = await findLockedLease(tx, LEASE);
    if (owner && toHolder(owner).node === node) return;
    if (!lease && (!owner || isSameDirectory(owner))) return;
    throw new AppError('unavailable', owner ? formatOwned(owner) : NO_OWNER, { retryAfterSeconds: 5 });
  }

  return {
    node,

    /** Whether this process is the only one that uses the engine, except for its workers. */
    isExclusive: !isShared && ownerNode === undefined,

    /** Becomes the owner and stays it until `close`. Throws `conflict` if another node is the owner. */
    async acquire(address: string): Promise<void> {
      if (isShared) return;
      const own = openLease(address);
      await acquire(own);
      lease = own;
      await own.start();
    },

    /** False while another node owns the engine, after this one was suspended. */
    isOwner: (): boolean => other === undefined,

    /** How often another node has taken the engine over: what was known before may not be true any more. */
    countLosses: (): number => losses,

    require: requireOwner,

    /** For changes that follow from what the engine has. */
    state: fence(state, requireOwner),

    /** Why a server of this data directory would not start now; undefined if it would. */
    async findObstacle(): Promise<string | undefined> {
      const owner = isShared ? undefined : await findLease(state.db, LEASE);
      if (!owner || isSameDirectory(owner) || (await state.now()) - owner.renewedAt >= EXPIRE_MS) return undefined;
      return formatOwned(owner);
    },

    async close(): Promise<void> {
      await lease?.close();
    },
  };
}

const toHolder = ({ holder }: Lease): Holder => JSON.parse(holder);

const NO_OWNER = 'This node lost the ownership of the embedded engine; it is acquired again within seconds';

function describeOwner(owner: Lease): string {
  const { address } = toHolder(owner);
  return `${owner.host}, process ${owner.pid}${address === '' ? '' : `, ${address}`}`;
}

const formatOwned = (owner: Lease): string =>
  `Another node owns the embedded engine of this database: ${describeOwner(owner)}; give all nodes the same --clickhouse-url, or run one node only`;

const ownedByOther = (owner: Lease): AppError => new AppError('conflict', formatOwned(owner));
