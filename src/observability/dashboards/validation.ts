import type { Violation } from '../../kernel/errors.ts';
import { createSchemaCheck } from '../../kernel/schemas/schema-check.ts';
import { listDashboardViolations } from './dashboard.ts';
import { DashboardBody } from './schema.ts';

/** The same limit as for a rejected request body. */
export const MAX_LISTED_VIOLATIONS = 200;

const shapeViolations = createSchemaCheck(DashboardBody, MAX_LISTED_VIOLATIONS);

/** Checks the schema and the rules of a dashboard, without its references to sources. */
export function validateDashboard(value: unknown): Violation[] {
  const shape = shapeViolations(value, '');
  return shape.length > 0 ? shape : listDashboardViolations(value as DashboardBody);
}
