import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../kernel/time/clock.ts';
import type { DrivenServices } from '../management/services/driven-services.ts';
import type { Driver, DriverName } from '../management/services/driver.ts';
import { readDirectoryName } from '../platform/engine/directory-id.ts';
import { getServiceDirectory } from '../running/drivers/embedded/directory.ts';
import { createEmbeddedDriver } from '../running/drivers/embedded/embedded.ts';
import { readLogTail } from '../running/drivers/embedded/log-file.ts';
import type { RunRestore } from '../running/drivers/embedded/restoring.ts';
import { createKubernetesDriver } from '../running/drivers/kubernetes/kubernetes-driver.ts';
import { createWebhookDriver } from '../running/drivers/webhook/webhook-driver.ts';
import type { Config } from './settings/config.ts';

interface Options {
  config: Pick<
    Config,
    'dataDirectory' | 'embeddedMibPerGb' | 'kubeconfig' | 'webhookAllowPrivate' | 'ignoredAgents' | 'ignoredStatements'
  >;
  clock: Clock;
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Called when the process of a service has ended. */
  onChange(serviceId: string): void;
  restore: RunRestore;
  services: Pick<DrivenServices, 'readControlPlaneId'>;
}

/** Has a directory for each embedded service. */
export const getServicesDirectory = ({ dataDirectory }: Pick<Config, 'dataDirectory'>): string =>
  join(dataDirectory, 'services');

/** Reads the logs of the embedded services of this node. */
export const createLogReader = (config: Pick<Config, 'dataDirectory'>) => ({
  getDirectoryId: () => readDirectoryName(config.dataDirectory),
  readLog: (serviceId: string, maxLines: number) =>
    readLogTail(getServiceDirectory(getServicesDirectory(config), serviceId).log, maxLines),
});

/** The drivers of services that are reconciled. */
export function createDrivers({
  config,
  clock,
  log,
  onChange,
  restore,
  services,
}: Options): Partial<Record<DriverName, Driver>> {
  return {
    embedded: createEmbeddedDriver({
      directory: getServicesDirectory(config),
      mibPerGb: config.embeddedMibPerGb,
      clock,
      log,
      onChange,
      restore,
    }),
    kubernetes: createKubernetesDriver({
      kubeconfig: config.kubeconfig,
      readControlPlaneId: services.readControlPlaneId,
      ignored: config,
      log,
    }),
    webhook: createWebhookDriver({ clock, allowPrivate: config.webhookAllowPrivate ?? false, ignored: config }),
  };
}
