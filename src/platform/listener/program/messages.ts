/** The first line on standard input of the program. Only this line has the secret of the start. */
export interface StartMessage {
  /** Path of libchdb. */
  library: string;
  /** The only folder that the process may write to. */
  data: string;
  /** A folder that it may read. */
  configuration: string;
  /** The only TCP ports that the process may listen on. */
  port: number;
  nativePort: number | undefined;
  /** See `READABLE` in landlock.ts. */
  hasThreadCounters: boolean;
  /** The arguments of ClickHouse, without the program's name and the statements that it runs. */
  arguments: string[];
}

/** `landlock`: the kernel confines the process to its directory and its port. */
export type Isolation = 'landlock' | 'none';

/** The first line on standard output. */
export interface StartReport {
  isolation: Isolation;
  /** Whether it listens on the native port: only if it survives what clients can send there. */
  hasNative: boolean;
}
