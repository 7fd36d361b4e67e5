import type { ConsoleConfigGetResult } from './generated.ts';
import { readJson } from './read-json.ts';

/** Public settings of the server. */
export type ConsoleConfig = ConsoleConfigGetResult;

export async function fetchConfig(base: string): Promise<ConsoleConfig> {
  const fallback: ConsoleConfig = {
    basePath: base,
    version: '',
    defaultDriver: 'simulated',
    demo: null,
    otlpUrl: `${base}/otlp`,
    otlpGrpcPort: null,
    provider: null,
    allowsKeys: true,
    needsSetup: false,
  };
  try {
    const response = await fetch(`${base}/console/config`, { headers: { accept: 'application/json' } });
    return response.ok ? ((await readJson(response)) as ConsoleConfig) : fallback;
  } catch {
    // The sign-in form works without it. A broken server is reported when the user signs in.
    return fallback;
  }
}
