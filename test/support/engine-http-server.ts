import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type Child, startChild } from '../../src/engine/child.ts';
import type { Access } from '../../src/engine/embedded/messages.ts';

export const ENGINE_PROGRAM = join(import.meta.dirname, '../../dist/engine.js');

export const PASSWORDS: Record<Access, string> = { reader: 'the-readers', writer: 'the-writers' };

const MEBIBYTE = 2 ** 20;

export function startEngineHttpServer(directory: string): Promise<Child> {
  return startChild({
    program: ENGINE_PROGRAM,
    options: {
      directory,
      passwords: PASSWORDS,
      serverMemoryBytes: 700 * MEBIBYTE,
      queryMemoryBytes: 300 * MEBIBYTE,
      readers: 4,
      writers: 2,
    },
    log: { debug() {}, warn() {} },
  });
}

/** For `--clickhouse-url`: a user that may create tables and write. */
export const getWriterUrl = ({ port }: Child): string => `http://writer:${PASSWORDS.writer}@127.0.0.1:${port}`;

interface EngineResponse {
  status: number;
  headers: Headers;
  text: string;
}

interface EngineCall {
  as?: Access;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  method?: string;
  signal?: AbortSignal;
}

/** The engine's HTTP interface without the control plane, shared by the tests of the surrounding `describe`. */
export function useEngineHttpServer() {
  let child: Child | undefined;
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-engine-http-'));
  beforeAll(async () => {
    child = await startEngineHttpServer(directory);
  });
  afterAll(async () => {
    await child?.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const url = () => `http://127.0.0.1:${child?.port}`;
  return {
    url,
    async call(body: string | Uint8Array | undefined, options: EngineCall = {}): Promise<EngineResponse> {
      const { as = 'reader', query = {}, headers = {}, method = 'POST', signal } = options;
      const response = await fetch(`${url()}/?${new URLSearchParams(query)}`, {
        method,
        ...(body === undefined ? {} : { body: body as string }),
        headers: { authorization: `Basic ${btoa(`${as}:${PASSWORDS[as]}`)}`, ...headers },
        ...(signal ? { signal } : {}),
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
  };
}
