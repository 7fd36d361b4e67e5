import { hostname } from 'node:os';
import { AppError } from '../../kernel/errors.ts';
import { DRIVERS, type Observation, type Observed, type Upstream } from '../../management/services/driver.ts';
import type { Service } from '../../management/services/service.ts';
import { chooseHost } from '../../platform/tls/certificate-host.ts';
import type { createProxy } from '../proxy/proxy.ts';
import type { Ports } from './ports.ts';

interface Options {
  proxy: ReturnType<typeof createProxy>;
  /** The address that the proxy listens on. */
  host: string;
  ports: Ports;
  /** The certificate of the endpoints, if they use TLS. */
  cert?: string | undefined;
  /** The address of the server for people. */
  publicUrl?: string | undefined;
}

type Endpoint = NonNullable<Observation['endpoint']>;

/** The ports of services. A service keeps its ports: clients have them in their settings. */
export function createEndpoints({ proxy, host, ports, cert, publicUrl }: Options) {
  /** The ports of each service that this process listens for. */
  const opened = new Map<string, Pick<Endpoint, 'port' | 'nativePort'>>();
  const isWildcard = host === '0.0.0.0' || host === '::';
  const ownHost = isWildcard ? hostname() : host;
  const place = cert ? { protocol: 'https' as const, host: chooseHost(cert, ownHost, publicUrl) } : { host: ownHost };
  let isClosed = false;

  const toProxied = ({ id, settings, details, desiredState }: Readonly<Service>, port: number) => ({
    id,
    port,
    state: desiredState,
    username: 'default' as const,
    // Without a password every login fails, as with an empty password.
    passwordHash: settings?.passwordHash ?? '',
    ipAccessList: details.ipAccessList ?? [],
  });

  /** A step that is still running must not open a port again. */
  function requireOpen(): void {
    if (isClosed) throw new AppError('unavailable', 'The control plane is stopping');
  }

  async function openNative(owner: { organizationId: string; serviceId: string }): Promise<number> {
    const { serviceId } = owner;
    try {
      return await ports.open(
        { ...owner, protocol: 'native' },
        async (chosen) => {
          requireOpen();
          return proxy.openNative(serviceId, chosen);
        },
        () => proxy.closeNative(serviceId),
      );
    } catch (error) {
      await proxy.close(serviceId);
      throw error;
    }
  }

  return {
    /** Opens the ports of a service, or applies its settings. Undefined if the service has no HTTP interface. */
    async open(
      service: Readonly<Service>,
      observed: Pick<Observed, 'upstream'> | undefined,
    ): Promise<Endpoint | undefined> {
      requireOpen();
      const { id, driver, settings } = service;
      const known = opened.get(id);
      if (known !== undefined) {
        proxy.update(toProxied(service, known.port));
        return { ...place, ...known };
      }
      const hasInterface =
        DRIVERS[driver].isLocal || settings?.kubernetes?.url || service.observed.endpoint || observed?.upstream;
      if (!hasInterface) return undefined;
      const owner = { organizationId: service.organizationId, serviceId: id };
      const port = await ports.open(
        { ...owner, protocol: 'http' },
        async (chosen) => {
          requireOpen();
          return proxy.open(toProxied(service, chosen));
        },
        () => proxy.close(id),
      );
      const nativePort = DRIVERS[driver].hasNative && ports.hasRange('native') ? await openNative(owner) : undefined;
      const own = { port, ...(nativePort !== undefined && { nativePort }) };
      opened.set(id, own);
      return { ...place, ...own };
    },

    /** Applies the settings of a service whose port is open. */
    update(service: Readonly<Service>): void {
      const own = opened.get(service.id);
      if (own) proxy.update(toProxied(service, own.port));
    },

    setUpstream(id: string, upstream: Upstream | undefined): void {
      if (opened.has(id)) proxy.setUpstream(id, upstream);
    },

    async close(id: string): Promise<void> {
      if (opened.delete(id)) await proxy.close(id);
    },

    /** The ports of a deleted service may be given to other ones. */
    async remove({ organizationId, id }: Readonly<Service>): Promise<void> {
      await this.close(id);
      await ports.release({ organizationId, serviceId: id });
    },

    /** Holds new queries back and waits for the running ones. */
    hold: async (id: string, timeoutMs: number): Promise<void> => {
      if (opened.has(id)) await proxy.hold(id, timeoutMs);
    },

    release(id: string): void {
      if (opened.has(id) && !isClosed) proxy.release(id);
    },

    getTraffic: (id: string) => (opened.has(id) ? proxy.getTraffic(id) : undefined),

    /** New queries wait for `closeAll`, which rejects them; running ones may take this long to finish. */
    async drain(drainMs: number): Promise<void> {
      isClosed = true;
      await Promise.all([...opened.keys()].map((id) => proxy.hold(id, drainMs)));
    },

    async closeAll(): Promise<void> {
      isClosed = true;
      opened.clear();
      await proxy.closeAll();
    },
  };
}

export type Endpoints = ReturnType<typeof createEndpoints>;
