import type { Violation } from '../kernel/errors.ts';
import { createShapeCheck } from '../kernel/shape.ts';
import { listDashboardViolations } from './dashboard.ts';
import { DashboardBody } from './schema.ts';

/** As many as a refused body gets. */
const MAX_LISTED_VIOLATIONS = 200;

const shapeViolations = createShapeCheck(DashboardBody, MAX_LISTED_VIOLATIONS);

/** Everything that is wrong with a dashboard as far as it can tell by itself; what it refers to is another matter. */
export function validateDashboard(value: unknown): Violation[] {
  const shape = shapeViolations(value, '');
  return shape.length > 0 ? shape : listDashboardViolations(value as DashboardBody);
}
