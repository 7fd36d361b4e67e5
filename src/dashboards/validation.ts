import type { Violation } from '../kernel/errors.ts';
import { createShapeCheck } from '../kernel/shape.ts';
import { dashboardViolations } from './dashboard.ts';
import { DashboardBody } from './schema.ts';

const shapeViolations = createShapeCheck(DashboardBody);

/** Everything that is wrong with a dashboard as far as it can tell by itself; what it refers to is another matter. */
export function violationsInDashboard(value: unknown): Violation[] {
  const shape = shapeViolations(value, '');
  return shape.length > 0 ? shape : dashboardViolations(value as DashboardBody);
}
