const KIBIBYTE = 2 ** 10;
const MEBIBYTE = 2 ** 20;

/** `64 KiB`, `4 MiB`; rounded down. */
export const formatBytes = (bytes: number): string =>
  bytes < MEBIBYTE ? `${Math.floor(bytes / KIBIBYTE)} KiB` : `${Math.floor(bytes / MEBIBYTE)} MiB`;
