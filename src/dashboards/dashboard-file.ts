import Type, { type Static } from 'typebox';
import { stringify } from 'yaml';
import { AppError, refuse, type Violation } from '../kernel/errors.ts';
import { createShapeCheck } from '../kernel/shape.ts';
import { parseDocuments, parseYamlOrJson } from '../kernel/yaml-text.ts';
import { ResourceId } from '../sources/resource-id.ts';
import { listDashboardViolations } from './dashboard.ts';
import { type Dashboard, DashboardBody } from './schema.ts';

/** A dashboard in a file of its own: as in the interface, and with an organization where there is more than one. */
export const DashboardFile = Type.Object({
  id: Type.Optional(ResourceId),
  organization: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Id or name' })),
  ...DashboardBody.properties,
});
export type DashboardFile = Static<typeof DashboardFile>;

const shapeViolations = createShapeCheck(DashboardFile);

/** YAML or JSON text → a dashboard without mistakes; throws all of them with their paths. */
export function parseDashboardFile(text: string): DashboardFile {
  const value = parseYamlOrJson(text, 'The file');
  refuse(listFileViolations(value, ''));
  return value as DashboardFile;
}

/** As `parseDashboardFile`, also for several: YAML documents, or a JSON list. */
export function parseDashboardFiles(text: string): DashboardFile[] {
  const values = parseDocuments(text, 'The file').flat();
  if (values.length === 0) throw new AppError('bad_request', 'The file is empty');
  refuse(values.flatMap((value, index) => listFileViolations(value, values.length === 1 ? '' : `[${index}]`)));
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

/** What `parseDashboardFile` reads; members that only repeat what is so anyway stay, since they are part of the dashboard. */
export function formatDashboardFile(dashboard: Dashboard & { organization?: string }, isJson: boolean): string {
  return isJson
    ? JSON.stringify(dashboard, null, 2)
    : stringify(dashboard, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd();
}
