/** Sent to the child over the IPC channel, never in arguments or the environment: it contains passwords. */
export interface EngineOptions {
  /** Holds the database and its configuration. */
  directory: string;
  passwords: Record<Access, string>;
  /** Memory limit of the whole engine. */
  serverMemoryBytes: number;
  queryMemoryBytes: number;
  /** How many reading and writing statements run at the same time; the others wait. */
  readers: number;
  writers: number;
}

/** The two users of the HTTP interface, and the two roles inside the engine. */
export type Access = 'reader' | 'writer';

export type StartupReport = { ready: { port: number } } | { failed: StartupFailure };

export interface StartupFailure {
  /** The engine is not installed, or cannot be loaded on this machine. */
  isMissing: boolean;
  text: string;
}

export type Command = { open: EngineOptions } | { close: true };
