import { setTimeout as delay } from 'node:timers/promises';
import { limitTime } from '../../kernel/tasks/time-limit.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';

interface Options {
  endpoint: string;
  headers: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 10 * SECOND_MS;
/** Also the number of attempts, less one. */
const PAUSES_MS = [1 * SECOND_MS, 2 * SECOND_MS, 4 * SECOND_MS];
/** The statuses that OTLP defines as retryable. */
const RETRYABLE = [429, 502, 503, 504];

/** `rejected`: the collector does not accept the records, and a repetition would not change that. */
type SendOutcome = { isSent: true } | { isSent: false; reason: 'failed' | 'rejected'; text: string };

interface Signals {
  /** Aborted: no further repetitions. */
  stopping: AbortSignal;
  /** Aborted: the request ends. */
  ended: AbortSignal;
}

/** Sends the records of one signal, with a few repetitions. Never throws. */
export function createOtlpSender({ endpoint, headers }: Options) {
  async function attempt(path: string, body: string, ended: AbortSignal): Promise<SendOutcome & { mayRetry: boolean }> {
    try {
      const response = await fetch(endpoint + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        // The headers may contain a credential.
        redirect: 'error',
        signal: limitTime(TIMEOUT_MS, ended),
      });
      await response.body?.cancel();
      if (response.ok) return { isSent: true, mayRetry: false };
      const mayRetry = RETRYABLE.includes(response.status);
      const text = `the collector responded with status ${response.status}`;
      return { isSent: false, reason: mayRetry ? 'failed' : 'rejected', text, mayRetry };
    } catch (error) {
      const { message, cause } = error as Error & { cause?: { code?: string } };
      return { isSent: false, reason: 'failed', text: cause?.code ?? message, mayRetry: true };
    }
  }

  return async (path: string, body: object, { stopping, ended }: Signals): Promise<SendOutcome> => {
    const text = JSON.stringify(body);
    for (let repetition = 0; ; repetition++) {
      const outcome = await attempt(path, text, ended);
      const pauseMs = PAUSES_MS[repetition];
      if (outcome.isSent || !outcome.mayRetry || pauseMs === undefined || stopping.aborted) return outcome;
      await delay(pauseMs, undefined, { signal: stopping, ref: false }).catch(() => {});
    }
  };
}
