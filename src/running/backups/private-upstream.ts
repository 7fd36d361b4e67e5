import { classifyAddress } from '../../kernel/access/addresses.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Upstream } from '../../management/services/driver.ts';
import { resolveChecked } from '../../platform/webhooks/allowed-lookup.ts';

/**
 * For a statement with a key, which is sent without encryption: the checked address of ClickHouse, whatever its name
 * resolves to later. Throws if it is not on this machine or a private network.
 */
export async function toPrivate(upstream: Upstream, signal: AbortSignal): Promise<Upstream> {
  const { host, port, headers } = upstream;
  try {
    const address = await resolveChecked(host, findPublic, signal);
    return address === host
      ? upstream
      : { ...upstream, host: address, headers: { ...headers, Host: `${host}:${port}` } };
  } catch (error) {
    signal.throwIfAborted();
    const reason = `The key for backups is not sent to the ClickHouse at ${host}: ${(error as Error).message}`;
    throw new AppError('unavailable', reason, { cause: error });
  }
}

const findPublic = (address: string): string | undefined =>
  classifyAddress(address) === 'private'
    ? undefined
    : 'the address is not private, and the connection is not encrypted';
