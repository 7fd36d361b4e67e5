/** What the control plane tells its child, over the channel between them: never in arguments or the environment. */
export interface Order {
  /** Holds the database, and the configuration written for it. */
  directory: string;
  passwords: Record<Face, string>;
  /** For everything the engine holds at one time, in bytes. */
  serverMemoryBytes: number;
  queryMemoryBytes: number;
  /** How many reading and writing statements run at the same time; the rest waits. */
  readers: number;
  writers: number;
}

/** The two users of the HTTP interface, and at the same time the two roles inside the engine. */
export type Face = 'reader' | 'writer';

export type Report = { ready: { port: number } } | { failed: Failure };

export interface Failure {
  /** There is no engine for this machine: it is not installed, or cannot be loaded. */
  isMissing: boolean;
  text: string;
}

export type Instruction = { open: Order } | { close: true };
