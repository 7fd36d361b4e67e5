/** `refused`: a mistake in the query, or too much asked of it. `cancelled`: nobody waited for it any more. */
export type Outcome = 'ok' | 'refused' | 'failed' | 'cancelled';

/** Called as things happen; what becomes of it is not the engine's business. */
export interface EngineObserver {
  query(seconds: number, outcome: Outcome): void;
  running(isRunning: boolean): void;
  restarted(): void;
}

export const unobserved: EngineObserver = { query() {}, running() {}, restarted() {} };
