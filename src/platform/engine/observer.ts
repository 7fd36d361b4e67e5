/** `rejected`: the query is invalid or exceeds a limit. `canceled`: the client disconnected. */
export type Outcome = 'ok' | 'rejected' | 'failed' | 'canceled';

/** Receives the engine's events, for metrics. */
export interface EngineObserver {
  query(seconds: number, outcome: Outcome): void;
  running(isRunning: boolean): void;
  restarted(): void;
}

export const unobserved: EngineObserver = { query() {}, running() {}, restarted() {} };
