import { AppError } from './errors.ts';
import { formatBytes } from './numbers/bytes.ts';

interface Limits {
  maxBytes: number;
  /** Ends the reading. If it has a timeout, that is the limit of the whole response, however slowly it arrives. */
  signal: AbortSignal;
  /** The system that sends, for the message: `The response of … is larger than 1 MiB`. */
  sender: string;
  /** A longer response is cut, and one that breaks off is what was received until then. */
  isCut?: boolean;
}

/**
 * Collects what another system sends. Settles when `signal` is aborted, also if the source reports nothing when it is
 * destroyed, and keeps at most `maxBytes` and one chunk in memory.
 */
export async function readLimited(
  source: AsyncIterable<Uint8Array>,
  { maxBytes, signal, sender, isCut = false }: Limits,
): Promise<Buffer> {
  const iterator = source[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let stopWaiting = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    // The signal may live longer than the response, which it would keep in memory.
    stopWaiting = () => signal.removeEventListener('abort', onAbort);
  });
  try {
    signal.throwIfAborted();
    while (bytes <= maxBytes) {
      const { done, value } = await Promise.race([iterator.next(), aborted]);
      if (done) return Buffer.concat(chunks, bytes);
      chunks.push(value);
      bytes += value.byteLength;
    }
    if (!isCut) throw new AppError('unavailable', `The response of ${sender} is larger than ${formatBytes(maxBytes)}`);
  } catch (error) {
    end(source, iterator);
    if (!isCut) throw error;
    return Buffer.concat(chunks).subarray(0, maxBytes);
  } finally {
    stopWaiting();
  }
  end(source, iterator);
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

/** Does not wait: a stream that stalls may never say that it has ended. */
function end(source: AsyncIterable<Uint8Array>, iterator: AsyncIterator<Uint8Array>): void {
  (source as { destroy?(): void }).destroy?.();
  iterator.return?.().then(undefined, () => {});
}
