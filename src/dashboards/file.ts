import Type, { type Static } from 'typebox';
import { stringify } from 'yaml';
import { AppError, type Violation } from '../kernel/errors.ts';
import { createShapeCheck } from '../kernel/shape.ts';
import { parseYamlOrJson } from '../kernel/yaml-text.ts';
import { dashboardViolations } from './dashboard.ts';
import { type Dashboard, DashboardBody, DashboardId } from './schema.ts';

/** A dashboard in a file of its own: as in the interface, and with an organization where there is more than one. */
export const DashboardFile = Type.Object({
  id: Type.Optional(DashboardId),
  organization: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Id or name' })),
  ...DashboardBody.properties,
});
export type DashboardFile = Static<typeof DashboardFile>;

const shapeViolations = createShapeCheck(DashboardFile);

/** YAML or JSON text → a dashboard without mistakes; throws all of them with their paths. */
export function parseDashboardFile(text: string): DashboardFile {
  const value = parseYamlOrJson(text, 'The file');
  const violations = violationsIn(value);
  if (violations.length > 0)
    throw new AppError('bad_request', `The file has ${violations.length} mistakes`, { violations });
  return value as DashboardFile;
}

function violationsIn(value: unknown): Violation[] {
  const shape = shapeViolations(value, '');
  return shape.length > 0 ? shape : dashboardViolations(value as DashboardBody);
}

/** What `parseDashboardFile` reads; members that only repeat what is so anyway stay, since they are part of the dashboard. */
export function dashboardFileText(dashboard: Dashboard & { organization?: string }, isJson: boolean): string {
  return isJson
    ? JSON.stringify(dashboard, null, 2)
    : stringify(dashboard, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd();
}
