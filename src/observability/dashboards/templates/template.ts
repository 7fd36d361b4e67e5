import type { DashboardBody } from '../schema.ts';

/** A dashboard to start from. It reads the built-in sources and the names of OpenTelemetry's semantic conventions. */
export interface DashboardTemplate {
  id: string;
  description: string;
  dashboard: DashboardBody;
}
