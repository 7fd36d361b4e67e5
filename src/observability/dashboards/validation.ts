import type { Violation } from '../../kernel/errors.ts';
import { createSchemaCheck } from '../../kernel/schemas/schema-check.ts';
import { listViolationsInSlices } from './dashboard.ts';
import { DashboardBody } from './schema.ts';

/** The same limit as for a rejected request body. */
export const MAX_LISTED_VIOLATIONS = 200;

const shapeViolations = createSchemaCheck(DashboardBody, MAX_LISTED_VIOLATIONS);

/** Checks the schema and the rules of a dashboard, without its references to sources. */
export async function validateDashboard(value: unknown): Promise<Violation[]> {
  const shape = shapeViolations(value, '');
  return shape.length > 0 ? shape : listViolationsInSlices(value as DashboardBody);
}
