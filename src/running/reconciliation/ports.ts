import { AppError } from '../../kernel/errors.ts';
import type { State } from '../../platform/state/state.ts';
import { claimPort, findPort, listPorts, releasePort, type ServicePort } from './port-store.ts';

/** Inclusive. Both 0: any free port. */
export interface PortRange {
  first: number;
  last: number;
}

type Owner = Omit<ServicePort, 'port'>;

interface Options {
  state: State;
  range: PortRange;
}

/** How often a free port of the system may belong to a service whose endpoint is closed. */
const MAX_ATTEMPTS = 100;

/** Which service has which port. A port belongs to its service until the service is deleted, whether it is open or not. */
export function createPorts({ state, range }: Options) {
  const claim = (owner: Owner, port: number): Promise<boolean> =>
    state.write((tx) => claimPort(tx, { ...owner, port }));
  const release = (owner: Owner): Promise<void> => state.write((tx) => releasePort(tx, owner));

  /** The first port of the range that belongs to no service and can be opened. */
  async function openInRange(owner: Owner, listen: (port: number) => Promise<number>): Promise<number> {
    const taken = await listPorts(state.db, range.first, range.last);
    for (let port = range.first; port <= range.last; port++) {
      if (taken.has(port) || !(await claim(owner, port))) continue;
      try {
        return await listen(port);
      } catch (error) {
        await release(owner);
        // Another program uses the port.
        if (!(error instanceof AppError && error.code === 'conflict')) throw error;
      }
    }
    throw new AppError(
      'unavailable',
      `All ports from ${range.first} to ${range.last} are in use; widen --endpoint-ports (PILOTHOUSE_ENDPOINT_PORTS)`,
    );
  }

  async function openAny(
    owner: Owner,
    listen: (port: number) => Promise<number>,
    close: () => Promise<void>,
  ): Promise<number> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const port = await listen(0);
      const isOwn = await claim(owner, port).catch(async (error: unknown) => {
        await close();
        throw error;
      });
      if (isOwn) return port;
      await close();
    }
    throw new AppError('unavailable', 'No free port was found that belongs to no other service');
  }

  return {
    /** Opens the port of the service, or gives it one. `listen` rejects with `conflict` if another program uses the port. */
    async open(owner: Owner, listen: (port: number) => Promise<number>, close: () => Promise<void>): Promise<number> {
      const own = await findPort(state.db, owner);
      if (own !== undefined) return listen(own);
      return range.first === 0 ? openAny(owner, listen, close) : openInRange(owner, listen);
    },

    /** For a service that is deleted. */
    release,
  };
}

export type Ports = ReturnType<typeof createPorts>;
