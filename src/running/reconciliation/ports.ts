import { AppError } from '../../kernel/errors.ts';
import type { LeasedState } from '../../platform/leases/session.ts';
import type { State } from '../../platform/state/state.ts';
import {
  claimPort,
  findPort,
  listPorts,
  type PortOwner,
  type PortUse,
  type Protocol,
  releasePorts,
} from './port-store.ts';

/** Inclusive. Both 0: any free port. */
export interface PortRange {
  first: number;
  last: number;
}

interface Options {
  state: Pick<State, 'db'>;
  /** With which the ports of a service are changed: by the process that is responsible for it. */
  getState(serviceId: string): LeasedState;
  /** A protocol without a range has no ports. */
  ranges: { http: PortRange; native?: PortRange | undefined };
}

const SETTINGS: Record<Protocol, string> = {
  http: '--endpoint-ports (PILOTHOUSE_ENDPOINT_PORTS)',
  native: '--native-ports (PILOTHOUSE_NATIVE_PORTS)',
};

/** How often a free port of the system may belong to a service whose endpoint is closed. */
const MAX_ATTEMPTS = 100;

/** Which service has which port. A port belongs to its service until the service is deleted, whether it is open or not. */
export function createPorts({ state, getState, ranges }: Options) {
  const claim = (use: PortUse, port: number): Promise<boolean> =>
    getState(use.serviceId).write((tx) => claimPort(tx, use, port));
  const release = (owner: PortOwner | PortUse): Promise<void> =>
    getState(owner.serviceId).write((tx) => releasePorts(tx, owner));

  /** The first port of the range that belongs to no service and can be opened. */
  async function openInRange(
    use: PortUse,
    range: PortRange,
    listen: (port: number) => Promise<number>,
  ): Promise<number> {
    const taken = await listPorts(state.db, range.first, range.last);
    for (let port = range.first; port <= range.last; port++) {
      if (taken.has(port) || !(await claim(use, port))) continue;
      try {
        return await listen(port);
      } catch (error) {
        await release(use);
        // Another program uses the port.
        if (!(error instanceof AppError && error.code === 'conflict')) throw error;
      }
    }
    throw new AppError(
      'unavailable',
      `All ports from ${range.first} to ${range.last} are in use; widen ${SETTINGS[use.protocol]}`,
    );
  }

  async function openAny(
    use: PortUse,
    listen: (port: number) => Promise<number>,
    close: () => Promise<void>,
  ): Promise<number> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const port = await listen(0);
      const isOwn = await claim(use, port).catch(async (error: unknown) => {
        await close();
        throw error;
      });
      if (isOwn) return port;
      await close();
    }
    throw new AppError('unavailable', 'No free port was found that belongs to no other service');
  }

  return {
    hasRange: (protocol: Protocol): boolean => ranges[protocol] !== undefined,

    /**
     * Opens the port of the service for the protocol, or gives it one. `listen` rejects with `conflict` if another program
     * uses the port.
     */
    async open(use: PortUse, listen: (port: number) => Promise<number>, close: () => Promise<void>): Promise<number> {
      const own = await findPort(state.db, use);
      if (own !== undefined) return listen(own);
      const { [use.protocol]: range = ranges.http } = ranges;
      return range.first === 0 ? openAny(use, listen, close) : openInRange(use, range, listen);
    },

    /** All ports, of a service that is deleted. */
    release,
  };
}

export type Ports = ReturnType<typeof createPorts>;
