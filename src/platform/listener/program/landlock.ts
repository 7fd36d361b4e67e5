import { closeSync, existsSync, open, openSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Isolation, StartMessage } from './messages.ts';
import type { Native } from './native.ts';

/** System calls; the numbers are the same on x64 and arm64, except `prctl`. */
const CREATE_RULESET = 444;
const ADD_RULE = 445;
const RESTRICT_SELF = 446;
const PRCTL = process.arch === 'arm64' ? 167 : 157;

const PR_SET_PDEATHSIG = 1;
const PR_SET_NO_NEW_PRIVS = 38;
const SIGKILL = 9;

const VERSION_FLAG = 1;
/** Restricts all threads of the process, not only the calling one and those it starts. */
const ALL_THREADS_FLAG = 8;
const ALL_THREADS_ABI = 8;
const NETWORK_ABI = 4;
const SCOPE_ABI = 6;

const EXECUTE = 1 << 0;
const WRITE_FILE = 1 << 1;
const READ_FILE = 1 << 2;
const READ_DIRECTORY = 1 << 3;
const TRUNCATE = 1 << 14;
/** How many of the rights on files, which are consecutive bits, each version of the interface knows. */
const FILE_RIGHTS = [0, 13, 14, 15, 15, 16];
const BIND_TCP = 1;
const BIND_AND_CONNECT_TCP = 3;
/** Abstract sockets and signals to processes outside. */
const SCOPES = 3;

const RULE_PATH = 1;
const RULE_PORT = 2;
/** `O_PATH`, which Node does not export. */
const OPEN_PATH = 0o10000000;

/** What ClickHouse reads at run time. Libraries are loaded before the restriction. Its queries can read it too. */
const READABLE = [
  '/dev/urandom',
  // ClickHouse looks up the name of the machine when it starts.
  '/etc/hosts',
  '/etc/nsswitch.conf',
  '/proc/meminfo',
  '/proc/self/statm',
  '/sys/devices/system/cpu/online',
  '/sys/devices/system/cpu/possible',
  '/usr/share/zoneinfo',
];

/**
 * The counters of each thread, such as its processor time. The folder also shows the connections and mounts of the
 * machine, so only a process whose users cannot read files may have it. Without it, each thread of a query fails to read
 * its counters, which takes 0.1 ms of processor time.
 */
const THREAD_COUNTERS = '/proc/self/task';

const CONTROL_GROUPS = '/sys/fs/cgroup';
/** The limits of a control group, and its memory, which ClickHouse reports. */
const CONTROL_FILES = ['cgroup.controllers', 'cpu.max', 'cpu.stat', 'memory.max', 'memory.stat'];
/** The same in version 1, where ClickHouse reads those of the root. */
const CONTROL_FILES_V1 = [
  'cpu/cpu.cfs_period_us',
  'cpu/cpu.cfs_quota_us',
  'cpuacct/cpuacct.stat',
  'memory/memory.limit_in_bytes',
  'memory/memory.stat',
];

/** The process ends with the thread that started it, which is the main thread of the control plane. */
export function endWithParent({ systemCall }: Native): void {
  if (process.platform === 'linux') systemCall(PRCTL, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

/**
 * Confines the calling thread, and all threads that it starts from now on, to their folder and their ports. Threads that
 * exist already are those of V8: before version 8 of the interface they remain as they are, and never run ClickHouse.
 */
export async function confine(native: Native, message: StartMessage): Promise<Isolation> {
  const version = process.platform === 'linux' ? native.systemCall(CREATE_RULESET, 0, 0, VERSION_FLAG) : 0;
  // Negative: the kernel has no Landlock (ENOSYS), or it is turned off (EOPNOTSUPP).
  if (version < 1) return 'none';
  const check = (step: string, result: number): number => {
    if (result < 0) throw new Error(`Landlock: ${step} failed with error ${-result}`);
    return result;
  };
  const all = 2 ** (FILE_RIGHTS[version] ?? FILE_RIGHTS.at(-1) ?? 0) - 1;
  const attributes = [all, ...(version >= NETWORK_ABI ? [BIND_AND_CONNECT_TCP] : [])];
  if (version >= SCOPE_ABI) attributes.push(SCOPES);
  const ruleset = check('create', native.systemCall(CREATE_RULESET, toWords(attributes), attributes.length * 8, 0));
  const allow = (path: string, rights: number) => {
    if (!existsSync(path)) return;
    const descriptor = openSync(path, OPEN_PATH);
    // A rule for a single file may only contain rights that files have.
    const applicable = statSync(path).isDirectory() ? rights : rights & ~READ_DIRECTORY;
    const rule = Buffer.alloc(12);
    rule.writeBigUInt64LE(BigInt(applicable & all), 0);
    rule.writeInt32LE(descriptor, 8);
    check(`rule for ${path}`, native.systemCall(ADD_RULE, ruleset, RULE_PATH, rule, 0));
    closeSync(descriptor);
  };
  allow(message.data, all & ~EXECUTE);
  allow('/dev/null', READ_FILE | WRITE_FILE | TRUNCATE);
  for (const path of [message.configuration, ...READABLE, ...listControlFiles()])
    allow(path, READ_FILE | READ_DIRECTORY);
  if (message.hasThreadCounters) allow(THREAD_COUNTERS, READ_FILE | READ_DIRECTORY);
  if (version >= NETWORK_ABI) {
    for (const port of [message.port, ...(message.nativePort === undefined ? [] : [message.nativePort])]) {
      const rule = toWords([BIND_TCP, port]);
      check('rule for the port', native.systemCall(ADD_RULE, ruleset, RULE_PORT, rule, 0));
    }
  }
  check('no new privileges', native.systemCall(PRCTL, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  const flags = version >= ALL_THREADS_ABI ? ALL_THREADS_FLAG : 0;
  check('restrict', native.systemCall(RESTRICT_SELF, ruleset, flags));
  closeSync(ruleset);
  await checkPoolThread(message.library);
  return 'landlock';
}

/** Of the control group of this process and of those that contain it; not of other programs. */
function listControlFiles(): string[] {
  const files = CONTROL_FILES_V1.map((name) => join(CONTROL_GROUPS, name));
  // The line of version 2, such as `0::/system.slice/pilothouse.service`.
  const [, group] = /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? [];
  for (let path = group; path !== undefined; path = path === '/' ? undefined : dirname(path))
    files.push(...CONTROL_FILES.map((name) => join(CONTROL_GROUPS, path ?? '/', name)));
  return ['/proc/self/cgroup', ...files];
}

/** 64-bit words in the byte order of the supported processors. */
function toWords(values: number[]): Buffer {
  const words = Buffer.alloc(values.length * 8);
  for (const [index, value] of values.entries()) words.writeBigUInt64LE(BigInt(value), index * 8);
  return words;
}

/**
 * ClickHouse runs on the one thread of libuv's pool. It is restricted if it was started after the restriction, so that it
 * can no longer open the library, which this process has loaded.
 */
async function checkPoolThread(library: string): Promise<void> {
  const code = await new Promise<string | undefined>((resolve) => {
    open(library, 'r', (error) => resolve(error?.code));
  });
  if (code !== 'EACCES') throw new Error('Landlock: the thread of ClickHouse is not restricted');
}
