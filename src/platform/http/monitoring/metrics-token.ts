import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../../kernel/errors.ts';
import { type GuardOptions, withChallenge } from '../guard.ts';
import type { AttemptLimit } from '../limits/attempt-limit.ts';

interface Options {
  /** Without a token, everyone may read the metrics. */
  token: string | undefined;
  attempts: AttemptLimit;
  clientAddress: GuardOptions['clientAddress'];
}

/** Checks the bearer token of `/metrics`. Wrong ones count as failed attempts of the address. */
export function createMetricsAuthorization({ token, attempts, clientAddress }: Options) {
  if (token === undefined) return async () => {};
  const expected = toDigest(token);
  return async (request: FastifyRequest): Promise<void> => {
    const { authorization = '' } = request.headers;
    try {
      await attempts.run(clientAddress(request), authorization, () => {
        const text = /^bearer +(\S+)\s*$/i.exec(authorization)?.[1];
        if (text === undefined || !timingSafeEqual(toDigest(text), expected))
          throw new AppError('unauthorized', 'The metrics require the token of --metrics-token as a bearer token');
      });
    } catch (error) {
      throw withChallenge(error, 'Bearer realm="pilothouse metrics"');
    }
  };
}

/** Digests have the same length, which a comparison in constant time needs. */
const toDigest = (text: string): Buffer => hash('sha256', text, 'buffer');
