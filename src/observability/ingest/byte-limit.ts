import { type Readable, Transform } from 'node:stream';
import { AppError } from '../../kernel/errors.ts';

const RETRY_AFTER_SECONDS = 2;

/** Bytes in memory, until they are released. */
interface Held {
  add(bytes: number): void;
  release(): void;
}

/** Limits the bytes that all requests together have in memory at one of their steps. Senders try again. */
export function createByteLimit(maxBytes: number) {
  let heldBytes = 0;

  /** Throws `unavailable` if `bytes` more do not fit. They always do if there are no others: a single request has its own limit. */
  function require(bytes = 1): void {
    if (heldBytes > 0 && heldBytes + bytes > maxBytes)
      throw new AppError('unavailable', 'Too much telemetry is waiting to be stored', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
  }

  /** Counts bytes, whether they fit or not. */
  function hold(bytes: number): Held {
    let ownBytes = 0;
    const held: Held = {
      add(more) {
        ownBytes += more;
        heldBytes += more;
      },
      release() {
        held.add(-ownBytes);
      },
    };
    held.add(bytes);
    return held;
  }

  return {
    require,
    hold,

    /**
     * The stream of a body, whose bytes are held as they arrive: what a sender announces and does not send takes no memory. It
     * fails with `unavailable` when no more fit.
     */
    holdStream(body: Readable, held: Held): Readable {
      const counted = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          try {
            require(chunk.length);
            held.add(chunk.length);
            done(null, chunk);
          } catch (error) {
            // The rest is read and dropped, so that the sender reads the response.
            body.unpipe(counted);
            body.resume();
            done(error as Error);
          }
        },
      });
      body.once('error', (error) => counted.destroy(error));
      return body.pipe(counted);
    },
  };
}
