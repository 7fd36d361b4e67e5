import { closeSync, constants, openSync } from 'node:fs';
import type { Native } from './native.ts';

/** System calls of x64 and arm64. */
const [IOCTL, DUP, DUP3] = process.arch === 'arm64' ? ([29, 23, 24] as const) : ([16, 32, 292] as const);
const UNLOCK_TERMINAL = 0x40045431;
const OPEN_TERMINAL = 0x5441;

/**
 * Makes a terminal the standard input, and returns the descriptor that it was before; undefined if the system has none.
 * ClickHouse of this version ends as soon as a connection fails in an unexpected way, such as a native client with a wrong
 * password, unless its standard input is a terminal (ClickHouse issue 115666). Nothing is written to the terminal.
 */
export function attachTerminal({ systemCall }: Native): number | undefined {
  if (process.platform !== 'linux') return undefined;
  // The other side of the terminal stays open: closing it would hang up.
  const other = openOtherSide();
  if (other === undefined) return undefined;
  const isUnlocked = systemCall(IOCTL, other, UNLOCK_TERMINAL, Buffer.alloc(4)) >= 0;
  const terminal = isUnlocked ? systemCall(IOCTL, other, OPEN_TERMINAL, constants.O_RDWR | constants.O_NOCTTY) : -1;
  if (terminal < 0) {
    closeSync(other);
    return undefined;
  }
  const input = systemCall(DUP, 0);
  systemCall(DUP3, terminal, 0, 0);
  closeSync(terminal);
  return input;
}

function openOtherSide(): number | undefined {
  try {
    return openSync('/dev/ptmx', constants.O_RDWR | constants.O_NOCTTY);
  } catch {
    return undefined;
  }
}
