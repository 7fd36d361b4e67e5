import Type, { type Static } from 'typebox';
import { AppError, rejectViolations, type Violation } from '../../../kernel/errors.ts';
import { createSchemaCheck } from '../../../kernel/schemas/schema-check.ts';
import { formatYaml, parseDocuments, parseYamlOrJson } from '../../../kernel/schemas/yaml-text.ts';
import { ResourceId } from '../../sources/resource-id.ts';
import { listDashboardViolations } from '../dashboard.ts';
import { type Dashboard, DashboardBody } from '../schema.ts';

/** A dashboard file: the dashboard as in the API, plus an organization if there are several. */
export const DashboardFile = Type.Object({
  id: Type.Optional(ResourceId),
  organization: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Id or name' })),
  ...DashboardBody.properties,
});
export type DashboardFile = Static<typeof DashboardFile>;

const shapeViolations = createSchemaCheck(DashboardFile);

/** Parses YAML or JSON. Throws all violations with their paths. */
export function parseDashboardFile(text: string): DashboardFile {
  const value = parseYamlOrJson(text, 'The file');
  rejectViolations(listFileViolations(value, ''));
  return value as DashboardFile;
}

/** Parses one or more dashboards: YAML documents or a JSON array. */
export function parseDashboardFiles(text: string): DashboardFile[] {
  const values = parseDocuments(text, 'The file').flat();
  if (values.length === 0) throw new AppError('bad_request', 'The file is empty');
  rejectViolations(
    values.flatMap((value, index) => listFileViolations(value, values.length === 1 ? '' : `[${index}]`)),
  );
  return values as DashboardFile[];
}

function listFileViolations(value: unknown, prefix: string): Violation[] {
  const shape = shapeViolations(value, prefix);
  if (shape.length > 0) return shape;
  return listDashboardViolations(value as DashboardBody).map((violation) => ({
    ...violation,
    path: prefix === '' ? violation.path : `${prefix}.${violation.path}`,
  }));
}

/** The inverse of `parseDashboardFile`. Includes members with default values. */
export function formatDashboardFile(dashboard: Dashboard & { organization?: string }, isJson: boolean): string {
  return isJson ? JSON.stringify(dashboard, null, 2) : formatYaml(dashboard).trimEnd();
}
