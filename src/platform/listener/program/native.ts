import { createRequire } from 'node:module';
import type { DataType } from 'ffi-rs';

/** The calls of a C library that the program needs. The two functions return what C returns. */
export interface Native {
  /** A system call; negative error numbers, as the kernel returns them. */
  systemCall(number: number, ...values: (number | Buffer)[]): number;
  /** Runs `chdb_query_cmdline` on the thread of libuv's pool until ClickHouse ends. */
  runClickHouse(values: string[]): Promise<unknown>;
}

/** Loads ffi-rs and libchdb. Takes 45 ms of processor time, nearly all of it for libchdb. */
export function loadNative(library: string): Native {
  // ffi-rs calls this only to detect musl, which libchdb does not support. The full report takes 15 ms.
  if (process.report) process.report.getReport = () => ({ header: { glibcVersionRuntime: 'glibc' } });
  // Not by import: its loader uses libuv's pool, whose thread must be started after the restriction.
  const { DataType, load, open }: typeof import('ffi-rs') = createRequire(import.meta.url)('ffi-rs');
  open({ library: 'chdb', path: library });
  if (process.platform === 'linux') open({ library: 'c', path: 'libc.so.6' });
  return {
    systemCall(number, ...values) {
      const { value, errnoCode } = load<DataType.I64, true>({
        library: 'c',
        funcName: 'syscall',
        retType: DataType.I64,
        paramsType: [DataType.I64, ...values.map((v) => (typeof v === 'number' ? DataType.I64 : DataType.U8Array))],
        paramsValue: [number, ...values],
        errno: true,
      });
      return value < 0 ? -errnoCode : value;
    },
    runClickHouse: (values) =>
      load({
        library: 'chdb',
        funcName: 'chdb_query_cmdline',
        retType: DataType.External,
        paramsType: [DataType.I32, DataType.StringArray],
        paramsValue: [values.length, values],
        runInNewThread: true,
      }),
  };
}
