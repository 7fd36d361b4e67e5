import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { DriverName } from './drivers/driver.ts';
import { getServiceDirectory } from './drivers/embedded/directory.ts';
import { createEmbeddedDriver } from './drivers/embedded/embedded.ts';
import { readLogTail } from './drivers/embedded/log-file.ts';
import { createKubernetesDriver } from './drivers/kubernetes/kubernetes-driver.ts';
import { createWebhookDriver } from './drivers/webhook/webhook-driver.ts';
import { readDirectoryName } from './engine/directory-id.ts';
import type { Clock } from './kernel/clock.ts';
import type { ConfiguredDriver } from './reconciliation/reconciler.ts';

interface Options {
  config: Pick<Config, 'dataDirectory' | 'embeddedMibPerGb' | 'kubeconfig' | 'webhookAllowPrivate'>;
  clock: Clock;
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Called when the process of a service has ended. */
  onChange(serviceId: string): void;
}

/** Has a directory for each embedded service. */
const getServicesDirectory = ({ dataDirectory }: Pick<Config, 'dataDirectory'>): string =>
  join(dataDirectory, 'services');

/** Reads the logs of the embedded services of this node. */
export const createLogReader = (config: Pick<Config, 'dataDirectory'>) => ({
  getDirectoryId: () => readDirectoryName(config.dataDirectory),
  readLog: (serviceId: string, maxLines: number) =>
    readLogTail(getServiceDirectory(getServicesDirectory(config), serviceId).log, maxLines),
});

/** The drivers of services that are not simulated. */
export function createDrivers({
  config,
  clock,
  log,
  onChange,
}: Options): Partial<Record<DriverName, ConfiguredDriver>> {
  return {
    embedded: createEmbeddedDriver({
      directory: getServicesDirectory(config),
      mibPerGb: config.embeddedMibPerGb,
      clock,
      log,
      onChange,
    }),
    kubernetes: createKubernetesDriver({ kubeconfig: config.kubeconfig, log }),
    webhook: createWebhookDriver({ clock, allowPrivate: config.webhookAllowPrivate ?? false }),
  };
}
