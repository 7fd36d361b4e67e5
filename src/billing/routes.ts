import { Readable } from 'node:stream';
import { logFailures } from '../http/aborted-responses.ts';
import { END_OF_SUCCESS, managementResponse, sendChunks, sendRendered } from '../http/envelopes.ts';
import { getIdentity } from '../http/guard.ts';
import type { Routes } from '../http/validation.ts';
import { isoSeconds } from '../kernel/clock.ts';
import { READERS } from '../kernel/roles.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import type { Costs } from './costs.ts';
import { createRenderings, type Headers } from './renderings.ts';
import { renderedCost, UsageCost, UsageCostQuery } from './schema.ts';
import { parseWindow } from './window.ts';

/** Up to here an answer is sent in one go; a longer one that is not rendered yet goes out piece by piece, as the client takes it. */
const WHOLE_ANSWER_BYTES = 256 * 1024;

export function billingRoutes({ costs }: { costs: Costs }): Routes {
  return (app) => {
    const renderings = createRenderings({ costs, render: renderedCost });

    app.get(
      '/v1/organizations/:organizationId/usageCost',
      {
        config: { operation: 'usageCostGet', roles: READERS },
        schema: {
          tags: ['Billing'],
          summary: 'Get organization usage cost',
          description:
            'One record per UTC day and entity. totalCHC is exactly the sum of its metrics, grandTotalCHC exactly the sum of the totals.',
          params: OrganizationPath,
          querystring: UsageCostQuery,
          response: managementResponse(UsageCost),
        },
      },
      async (request, reply) => {
        const window = parseWindow(request.query);
        const { organizationId, revisions } = getIdentity(request);
        const head = Buffer.from(`{"requestId":"${request.id}","result":{"costs":[`);
        const known = renderings.find(organizationId, revisions.costs, window);
        if (known) return sendChunks(reply.headers(known.headers), [head, ...known.pieces, END_OF_SUCCESS]);
        const headers = headersOf(await costs.progress(organizationId));
        reply.headers(headers);
        const pieces = renderings.render(organizationId, revisions.costs, window, headers);
        const begun = await upTo(WHOLE_ANSWER_BYTES, pieces);
        if (begun.isAll) return sendChunks(reply, [head, ...begun.taken, END_OF_SUCCESS]);
        const rest = logFailures(request, pieces);
        return sendRendered(reply, Readable.from(chained([head, ...begun.taken], rest), { objectMode: false }));
      },
    );
  };
}

/** As of when metered usage is in the answer, and through which day it will not change any more. */
function headersOf(progress: Awaited<ReturnType<Costs['progress']>>): Headers {
  if (!progress) return {};
  return {
    'x-pilothouse-as-of': isoSeconds(progress.ratedAt),
    ...(progress.lockedThrough === undefined ? {} : { 'x-pilothouse-locked-through': progress.lockedThrough }),
  };
}

/** The first pieces are read before the answer begins: a store that is down is still a 503, not half an answer. */
async function upTo(bytes: number, pieces: AsyncGenerator<Buffer>): Promise<{ taken: Buffer[]; isAll: boolean }> {
  const taken: Buffer[] = [];
  for (let size = 0; size < bytes; ) {
    const next = await pieces.next();
    if (next.done) return { taken, isAll: true };
    taken.push(next.value);
    size += next.value.length;
  }
  return { taken, isAll: false };
}

async function* chained(begun: readonly Buffer[], rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield* begun;
  yield* rest;
  yield END_OF_SUCCESS;
}
