/** Called as things happen; what becomes of it is not the engine's business. */
export interface EngineObserver {
  query(seconds: number, outcome: 'ok' | 'refused' | 'failed' | 'cancelled'): void;
  running(isRunning: boolean): void;
  restarted(): void;
}

export const unobserved: EngineObserver = { query() {}, running() {}, restarted() {} };
