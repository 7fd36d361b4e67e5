import { AppError } from '../../kernel/errors.ts';
import { DRIVER_NAMES, DRIVERS } from '../../management/services/driver.ts';
import type { Service } from '../../management/services/service.ts';

const WITH_SQL_USERS = DRIVER_NAMES.filter((name) => DRIVERS[name].hasSqlUsers);

/** Throws if the service accepts no statements by role. */
export function requireSqlUsers({ name, driver, desiredState }: Readonly<Service>): void {
  const { hasSqlUsers, isReconciled } = DRIVERS[driver];
  if (!hasSqlUsers) {
    const needed = `SQL by role needs the driver ${WITH_SQL_USERS.join(' or ')}`;
    const remedy = isReconciled
      ? `${needed}; use the endpoint of the service with its password`
      : `It runs no process; ${needed}`;
    throw new AppError('conflict', `${name} has the driver ${driver}. ${remedy}`);
  }
  if (desiredState === 'stopped') throw new AppError('conflict', `${name} is stopped; start it to run statements`);
}

/** The error of a node that does not run the service. */
export function runsElsewhere({ name, observed: { endpoint } }: Readonly<Service>): AppError {
  const reason = endpoint
    ? `another node runs ${name} (its endpoint is ${endpoint.host}:${endpoint.port}); send the statement to that node`
    : `${name} is being created; try again when it runs`;
  return new AppError('unavailable', `This node cannot run statements on the service: ${reason}`, {
    retryAfterSeconds: 1,
  });
}
