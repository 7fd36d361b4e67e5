import type { Logger } from 'pino';
import { AppError } from '../../kernel/errors.ts';
import { openRawStore, type RawStore, type StoreAddress } from '../../platform/state/raw-access.ts';
import { findInterruptedSwap, settleSwap } from './directory-swap.ts';
import { findCompletedRestore } from './store.ts';

type Log = Pick<Logger, 'warn'>;
type Address = StoreAddress & { clickhouseUrl?: string | undefined };

/**
 * Completes or undoes a restore that was interrupted, so that state and engine belong together. To be called before the
 * embedded engine is opened. Fails while a restore is running.
 */
export async function settleInterruptedRestore(address: Address, log: Log): Promise<void> {
  // A ClickHouse server has no directory of ours.
  const found = address.clickhouseUrl ? undefined : findInterruptedSwap(address.dataDirectory);
  if (!found) return;
  if (found.unknownEngine !== undefined) {
    log.warn({ path: found.unknownEngine }, 'an interrupted restore left an engine behind; run pilothouse doctor');
    return;
  }
  const store = await openRawStore(address, { isForRestore: true, mayCreate: true });
  try {
    await settle(store, address.dataDirectory, log);
  } finally {
    await store.close();
  }
}

/** The same for a caller that has the store to itself. */
export async function settle(store: RawStore, dataDirectory: string, log: Log): Promise<void> {
  const found = findInterruptedSwap(dataDirectory);
  if (!found) return;
  const { directory, id, unknownEngine } = found;
  if (unknownEngine !== undefined) throw new AppError('conflict', describeUnknown(unknownEngine));
  const isCommitted = id !== undefined && (await store.read((tx) => findCompletedRestore(tx, store.kind))) === id;
  settleSwap(dataDirectory, isCommitted);
  log.warn({ directory }, isCommitted ? 'an interrupted restore was completed' : 'an interrupted restore was undone');
}

const describeUnknown = (path: string): string =>
  `${path} is the engine from before a restore that was interrupted; move it away or delete it first`;

/** What `doctor` says about it; undefined if there is nothing. */
export function describeInterruptedRestore({ dataDirectory }: Address): { text: string; remedy: string } | undefined {
  const found = findInterruptedSwap(dataDirectory);
  if (!found) return undefined;
  if (found.unknownEngine !== undefined)
    return {
      text: `an interrupted restore left the previous engine in ${found.unknownEngine}`,
      remedy:
        'Compare it with the engine in use; move the right one to the directory engine while no server is running, and delete the other one',
    };
  return {
    text: `a restore was interrupted or is running: ${found.directory} exists`,
    remedy: 'If no restore is running, start the server: it completes the restore or undoes it',
  };
}
