import type { IncomingMessage } from 'node:http';

/**
 * `none`: there is no body. `whole`: it has been read. `stream`: it has not been read, or only its beginning, which is
 * back in the stream. `isAwaited`: the client sends it after `100 Continue`.
 */
export type QueryBody = { type: 'none' } | { type: 'whole'; bytes: Buffer } | { type: 'stream'; isAwaited: boolean };

/** `beginning`: the first bytes of the body, as far as they are known. */
type OnBody = (body: QueryBody, beginning?: Buffer) => void;

/**
 * Reads the first bytes of a body: they may contain the statement, and are all there is of most bodies. The rest stays
 * unread until it is forwarded, so a query that waits does not fill memory. Nothing is called if the client disconnects.
 */
export function readBody(
  request: IncomingMessage,
  options: { isAwaited: boolean; timeoutMs: number },
  onBody: OnBody,
  onTimeout: () => void,
): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding === undefined && (length === undefined || Number(length) === 0)) return void onBody({ type: 'none' });
  if (options.isAwaited) return void onBody({ type: 'stream', isAwaited: true });

  const timer = setTimeout(() => {
    stop();
    onTimeout();
  }, options.timeoutMs);
  const stop = () => {
    clearTimeout(timer);
    request.off('data', onData).off('end', onEnd).off('close', stop);
  };
  const onEnd = () => {
    stop();
    onBody({ type: 'whole', bytes: Buffer.alloc(0) });
  };
  const onData = (bytes: Buffer) => {
    stop();
    if (encoding === undefined && bytes.length === Number(length)) return onBody({ type: 'whole', bytes }, bytes);
    request.pause();
    request.unshift(bytes);
    onBody({ type: 'stream', isAwaited: false }, bytes);
  };
  request.on('data', onData).once('end', onEnd).once('close', stop);
}
