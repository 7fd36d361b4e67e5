import type { Socket } from 'node:net';
import { type ClientPackets, classifyPackets, findServerRevision, skipAddendum } from './client-packets.ts';
import { MAX_HELLO_BYTES } from './hello.ts';

interface Options {
  client: Socket;
  /** The connection to the process, with its hello sent. */
  upstream: Socket;
  /** The revision of the client. */
  revision: number;
  /** How long the other side may take after one side has closed the connection. */
  closeMs: number;
  /** Called with the packets that a client sends; false: they are kept back until `release`. */
  onPackets(kind: Exclude<ClientPackets, 'none'>): boolean;
  onClose(): void;
}

export type Relay = ReturnType<typeof createRelay>;

/** Passes bytes on in both directions, each only as fast as they are taken. */
export function createRelay({ client, upstream, revision, closeMs, onPackets, onClose }: Options) {
  /** Undefined until the hello of the server is complete. */
  let serverRevision: number | undefined;
  let serverBytes = Buffer.alloc(0);
  /** What the client has sent after the hello, until the values that precede its packets are complete. */
  let addendum: Buffer | undefined = Buffer.alloc(0);
  /** The server has sent something since the client did: the next bytes of the client are the start of a packet. */
  let isTurn = true;
  let kept: Buffer | undefined;
  /** Set when one side has closed the connection. */
  let closing: NodeJS.Timeout | undefined;

  function takeClientBytes(bytes: Buffer): void {
    if (closing) return;
    const kind = classify(bytes);
    if (kind !== 'none' && !onPackets(kind)) {
      kept = bytes;
      client.pause();
      return;
    }
    if (!upstream.write(bytes)) client.pause();
  }

  function classify(bytes: Buffer): ClientPackets {
    if (addendum !== undefined) return classifyFirst(bytes);
    const kind = isTurn ? classifyPackets(bytes) : 'other';
    isTurn = false;
    return kind;
  }

  function classifyFirst(bytes: Buffer): ClientPackets {
    addendum = Buffer.concat([addendum ?? Buffer.alloc(0), bytes]);
    // A client that does not wait for the hello sends no packet that could be told apart.
    const packets =
      serverRevision === undefined ? addendum : skipAddendum(addendum, Math.min(revision, serverRevision));
    if (packets === undefined && addendum.length <= MAX_HELLO_BYTES) return 'none';
    addendum = undefined;
    isTurn = packets?.length === 0;
    return packets === undefined ? 'other' : classifyPackets(packets);
  }

  function takeServerBytes(bytes: Buffer): void {
    isTurn = true;
    if (serverRevision === undefined) {
      serverBytes = Buffer.concat([serverBytes, bytes]);
      serverRevision = findServerRevision(serverBytes) ?? (serverBytes.length > MAX_HELLO_BYTES ? 0 : undefined);
      if (serverRevision !== undefined) serverBytes = Buffer.alloc(0);
    }
    if (!client.destroyed && !client.write(bytes)) upstream.pause();
  }

  /** The process is never left with a connection that was reset: it gets the end of the stream, and what it sends is read. */
  function close(): void {
    if (closing) return;
    closing = setTimeout(() => {
      client.destroy();
      upstream.destroy();
    }, closeMs).unref();
    kept = undefined;
    client.end();
    upstream.end();
    client.resume();
    upstream.resume();
  }

  client.on('data', takeClientBytes);
  client.on('drain', () => upstream.resume());
  client.once('end', close);
  client.once('close', close);
  upstream.on('data', takeServerBytes);
  upstream.on('drain', () => {
    if (kept === undefined) client.resume();
  });
  upstream.on('error', () => {});
  upstream.once('end', close);
  upstream.once('close', () => {
    close();
    onClose();
  });
  for (const socket of [client, upstream])
    socket.once('close', () => {
      if (client.destroyed && upstream.destroyed) clearTimeout(closing);
    });
  return {
    client,
    /** The port by which the process knows the connection. */
    port: upstream.localPort,
    /** What the client has sent after its hello is passed on first. */
    begin(rest: Buffer): void {
      if (rest.length > 0) takeClientBytes(rest);
      if (kept === undefined) client.resume();
    },
    /** Passes on the packets that were kept back. False if there were none. */
    release(): boolean {
      const bytes = kept;
      kept = undefined;
      if (bytes === undefined) return false;
      if (upstream.write(bytes)) client.resume();
      return true;
    },
    close,
  };
}
