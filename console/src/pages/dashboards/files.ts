import type { CreateDashboardBody } from '../../api/generated.ts';
import { saveFile } from '../../parts/forms/save-file.ts';
import type { Dashboard } from './queries.ts';

/** In API format, so that it can be imported or applied with `pilothouse dashboard apply`. */
export function exportDashboard(dashboard: Dashboard): void {
  const content = `${JSON.stringify(dashboard, null, 2)}\n`;
  saveFile(`${toFileName(dashboard.name, dashboard.id)}.json`, 'application/json', content);
}

/** Letters and digits of a name; the id if it has none. */
export const toFileName = (name: string, id: string): string =>
  (
    name
      .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
      .replaceAll(/^-|-$/g, '')
      .toLowerCase() || id
  ).slice(0, 80);

/** Parses JSON or YAML. The server validates the contents. */
export async function readDashboardFile(file: File): Promise<CreateDashboardBody> {
  const text = await file.text();
  const value: unknown = await parse(file.name, text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${file.name} does not contain a dashboard.`);
  // The import gets a new ID and belongs to the current organization.
  const { id: _id, organization: _organization, ...body } = value as Record<string, unknown>;
  return body as CreateDashboardBody;
}

async function parse(name: string, text: string): Promise<unknown> {
  try {
    if (/\.ya?ml$/i.test(name)) return (await import('yaml')).parse(text);
    return JSON.parse(text);
  } catch (error) {
    throw new Error(
      `Could not read ${name}: ${error instanceof Error ? error.message : 'the file is neither JSON nor YAML'}`,
    );
  }
}
