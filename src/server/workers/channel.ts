import { AppError, type ErrorCode } from '../../kernel/errors.ts';

/** One end of the connection between two processes. */
export interface Port {
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  onClose(listener: () => void): void;
}

/** Functions that the other process may call. Arguments and results are copied. */
export type Calls<T> = { [Name in keyof T]: (...args: never[]) => unknown };

/** The same functions, as seen from the other process. */
export type Remote<T extends Calls<T>> = {
  [Name in keyof T]: (...args: Parameters<T[Name]>) => Promise<Awaited<ReturnType<T[Name]>>>;
};

interface SentError {
  code: ErrorCode;
  message: string;
  retryAfterSeconds: number | undefined;
}

type Message =
  | { type: 'call'; id: number; name: string; args: unknown[] }
  | { type: 'result'; id: number; result: unknown }
  | { type: 'error'; id: number; error: SentError };

const CLOSED = 'The other process has ended';

/** Offers `local` to the process at the other end of the port, and returns the functions that it offers. */
export function openChannel<Local extends Calls<Local>, Other extends Calls<Other>>(
  port: Port,
  local: Local,
): Remote<Other> {
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  let lastId = 0;
  let isClosed = false;

  async function answer({ id, name, args }: Message & { type: 'call' }): Promise<void> {
    let message: Message;
    try {
      const call = local[name as keyof Local] as unknown as (...args: unknown[]) => unknown;
      message = { type: 'result', id, result: await call(...args) };
    } catch (error) {
      message = { type: 'error', id, error: toSentError(error) };
    }
    if (!isClosed) port.send(message);
  }

  port.onMessage((received) => {
    const message = received as Message;
    if (message.type === 'call') return void answer(message);
    const call = pending.get(message.id);
    pending.delete(message.id);
    if (message.type === 'result') call?.resolve(message.result);
    else call?.reject(toAppError(message.error));
  });

  port.onClose(() => {
    isClosed = true;
    for (const { reject } of pending.values()) reject(new AppError('unavailable', CLOSED));
    pending.clear();
  });

  const call = (name: string, args: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (isClosed) return reject(new AppError('unavailable', CLOSED));
      const id = ++lastId;
      pending.set(id, { resolve, reject });
      port.send({ type: 'call', id, name, args } satisfies Message);
    });

  return new Proxy({} as Remote<Other>, {
    get:
      (_target, name: string) =>
      (...args: unknown[]) =>
        call(name, args),
  });
}

const toSentError = (error: unknown): SentError =>
  error instanceof AppError
    ? { code: error.code, message: error.message, retryAfterSeconds: error.retryAfterSeconds }
    : { code: 'internal', message: (error as Error).message, retryAfterSeconds: undefined };

const toAppError = ({ code, message, retryAfterSeconds }: SentError): AppError =>
  new AppError(code, message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
