import { formatNumber, toWords } from '../../parts/format/format.ts';

type Evidence = Readonly<Record<string, unknown>>;

/** What the observation is based on, in words: "Process 14505, limit 1 GiB", "Resource version 812". */
export function listEvidence({ pid, memoryLimitMiB, isolation, ...others }: Evidence): string[] {
  const limit = typeof memoryLimitMiB === 'number' ? `limit ${formatMebibytes(memoryLimitMiB)}` : undefined;
  const process = [pid === undefined ? undefined : `Process ${String(pid)}`, limit].filter(
    (part) => part !== undefined,
  );
  return [
    ...(process.length > 0 ? [process.join(', ')] : []),
    ...(isolation === undefined ? [] : [ISOLATIONS[String(isolation)] ?? `Isolation: ${String(isolation)}`]),
    ...Object.entries(others).map(([name, value]) => `${toWords(name)} ${String(value)}`),
  ];
}

const ISOLATIONS: Readonly<Record<string, string>> = { landlock: 'Isolated by Landlock', none: 'Not isolated' };

const MIB_PER_GIB = 1024;

const formatMebibytes = (mib: number): string =>
  mib < MIB_PER_GIB ? `${formatNumber(mib)} MiB` : `${formatNumber(Math.round((100 * mib) / MIB_PER_GIB) / 100)} GiB`;
