import type { INVALID } from './setting-parsers.ts';

/** One setting: its flag, its environment variable, its description and the parser of its value. */
export interface Setting<T = unknown> {
  flag: `--${string}`;
  argument: string;
  /** `OTEL_` for variables that OpenTelemetry defines. */
  variable: `PILOTHOUSE_${string}` | `OTEL_${string}`;
  help: string;
  /** The default, as text. Without it, the value is undefined. */
  fallback?: string;
  /** Describes a computed default, for settings without `fallback`. */
  fallbackHelp?: string;
  /** Error messages omit the value, and `<variable>_FILE` may name a file that contains it. */
  isSecret?: boolean;
  parse(text: string): T | typeof INVALID;
  /** Completes the sentence "--flag …" in error messages. */
  rule: string;
}
