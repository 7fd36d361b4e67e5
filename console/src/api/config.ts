import { readJson } from './client.ts';
import type { ConsoleConfigGetResult } from './generated.ts';

/** What anybody may know about the server. */
export type ConsoleConfig = ConsoleConfigGetResult;

export async function fetchConfig(base: string): Promise<ConsoleConfig> {
  const unknown: ConsoleConfig = { basePath: base, version: '', demo: null };
  try {
    const response = await fetch(`${base}/console/config`, { headers: { accept: 'application/json' } });
    return response.ok ? ((await readJson(response)) as ConsoleConfig) : unknown;
  } catch {
    // The form works without it; what else is wrong shows when somebody signs in.
    return unknown;
  }
}
