import { jsonOf } from './client.ts';

/** What anybody may know about the server. */
export interface ConsoleConfig {
  basePath: string;
  version: string;
  /** Only where `pilothouse demo` runs: credentials that are public anyway. */
  demo: { keyId: string; keySecret: string } | null;
}

export async function fetchConfig(base: string): Promise<ConsoleConfig> {
  const unknown: ConsoleConfig = { basePath: base, version: '', demo: null };
  try {
    const response = await fetch(`${base}/console/config`, { headers: { accept: 'application/json' } });
    return response.ok ? ((await jsonOf(response)) as ConsoleConfig) : unknown;
  } catch {
    // The form works without it; what else is wrong shows when somebody signs in.
    return unknown;
  }
}
