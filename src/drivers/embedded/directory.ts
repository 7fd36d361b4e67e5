import { lstatSync, mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import { isUuid } from '../../kernel/ids.ts';

/** The folders of one service. */
export interface ServiceDirectory {
  root: string;
  /** The only folder that the process may write to. */
  data: string;
  /** Errors of ClickHouse. */
  log: string;
  /** Exists only during a start, because it contains secrets. */
  configuration: string;
}

/** The service's own directory below `directory`. The id becomes part of a path, so anything but a UUID is rejected. */
export function getServiceDirectory(directory: string, serviceId: string): ServiceDirectory {
  if (!isUuid(serviceId)) throw new AppError('bad_request', 'The id of an embedded service must be a UUID');
  const root = join(resolve(directory), serviceId.toLowerCase());
  const data = join(root, 'data');
  return { root, data, log: join(data, 'clickhouse.log'), configuration: join(root, 'configuration') };
}

export function hasDirectory({ root }: ServiceDirectory): boolean {
  return lstatSync(root, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

export function createServiceDirectory({ root, data }: ServiceDirectory): void {
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new AppError('unavailable', `The directory of the service cannot be created: ${(error as Error).message}`, {
      cause: error,
    });
  }
  // A link could lead to the data of another service.
  if (!lstatSync(root).isDirectory() || !lstatSync(data).isDirectory())
    throw new AppError('unavailable', `${data} must be a directory, not a link`);
}

/** Removes the directory with everything in it. Links are removed, not followed. */
export async function removeServiceDirectory({ root }: ServiceDirectory): Promise<void> {
  await rm(root, { recursive: true, force: true });
}
