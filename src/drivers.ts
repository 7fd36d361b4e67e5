import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { DriverName } from './drivers/driver.ts';
import { createEmbeddedDriver } from './drivers/embedded/embedded.ts';
import { findInPackage } from './engine/package-files.ts';
import type { Clock } from './kernel/clock.ts';
import type { ConfiguredDriver } from './reconciliation/reconciler.ts';

interface Options {
  config: Pick<Config, 'dataDirectory' | 'embeddedMibPerGb'>;
  clock: Clock;
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Called when the process of a service has ended. */
  onChange(serviceId: string): void;
}

/** The drivers of services that are not simulated. */
export function createDrivers({
  config,
  clock,
  log,
  onChange,
}: Options): Partial<Record<DriverName, ConfiguredDriver>> {
  return {
    embedded: createEmbeddedDriver({
      directory: join(config.dataDirectory, 'services'),
      program: findInPackage('dist/service.cjs'),
      mibPerGb: config.embeddedMibPerGb,
      clock,
      log,
      onChange,
    }),
  };
}
