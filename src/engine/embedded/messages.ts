/** What the control plane tells its child, over the channel between them: never in arguments or the environment. */
export interface EngineOptions {
  /** Holds the database, and the configuration written for it. */
  directory: string;
  passwords: Record<Access, string>;
  /** For everything the engine holds at one time, in bytes. */
  serverMemoryBytes: number;
  queryMemoryBytes: number;
  /** How many reading and writing statements run at the same time; the rest waits. */
  readers: number;
  writers: number;
}

/** The two users of the HTTP interface, and at the same time the two roles inside the engine. */
export type Access = 'reader' | 'writer';

export type StartupReport = { ready: { port: number } } | { failed: StartupFailure };

export interface StartupFailure {
  /** There is no engine for this machine: it is not installed, or cannot be loaded. */
  isMissing: boolean;
  text: string;
}

export type Command = { open: EngineOptions } | { close: true };
