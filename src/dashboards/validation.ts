import type { Violation } from '../kernel/errors.ts';
import { createSchemaCheck } from '../kernel/schema-check.ts';
import { dashboardViolations } from './dashboard.ts';
import { DashboardBody } from './schema.ts';

/** As many as a refused body gets. */
const LISTED_MISTAKES = 200;

const shapeViolations = createSchemaCheck(DashboardBody, LISTED_MISTAKES);

/** Everything that is wrong with a dashboard as far as it can tell by itself; what it refers to is another matter. */
export function violationsInDashboard(value: unknown): Violation[] {
  const shape = shapeViolations(value, '');
  return shape.length > 0 ? shape : dashboardViolations(value as DashboardBody);
}
