import { Readable } from 'node:stream';
import { managementAnswers, sendRendered } from '../http/envelopes.ts';
import { callerOf } from '../http/guard.ts';
import type { Routes } from '../http/validation.ts';
import { chcFromMicros } from '../kernel/money.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import type { Cost } from './cost.ts';
import type { Costs } from './costs.ts';
import { createRenderedDays, type RenderedDay } from './rendered-days.ts';
import { CostRecord, costRecord, UsageCost, UsageCostQuery } from './schema.ts';
import { parseWindow } from './window.ts';

/** Up to here an answer is sent in one piece; beyond, day by day as the client takes it. */
const WHOLE_ANSWER_BYTES = 1024 * 1024;

export function billingRoutes({ costs }: { costs: Costs }): Routes {
  return (app) => {
    let serialize: (record: Record<string, unknown>) => string;
    const renderedDays = createRenderedDays({ costs, render: (cost: Cost) => serialize({ ...costRecord(cost) }) });

    app.get(
      '/v1/organizations/:organizationId/usageCost',
      {
        config: { operation: 'usageCostGet', roles: ['admin', 'developer'] },
        schema: {
          tags: ['Billing'],
          summary: 'Get organization usage cost',
          description: 'One record per UTC day and entity. totalCHC is exactly the sum of its metrics, grandTotalCHC exactly the sum of the totals.',
          params: OrganizationPath,
          querystring: UsageCostQuery,
          response: managementAnswers(UsageCost),
        },
      },
      async (request, reply) => {
        serialize ??= reply.compileSerializationSchema({ ...CostRecord });
        const { organizationId, costRevision } = callerOf(request);
        const days = renderedDays(organizationId, costRevision, parseWindow(request.query));
        const pieces = envelope(request.id, days);
        const whole = await upTo(WHOLE_ANSWER_BYTES, pieces);
        return sendRendered(reply, whole.isAll ? Buffer.concat(whole.taken) : Readable.from(chained(whole.taken, pieces), { objectMode: false }));
      },
    );
  };
}

/** The answer in pieces. The grand total stands last: by then it is the sum of exactly what was sent. */
async function* envelope(requestId: string, days: AsyncGenerator<RenderedDay>): AsyncGenerator<Buffer> {
  yield Buffer.from(`{"requestId":"${requestId}","result":{"costs":[`);
  let micros = 0;
  let isFirst = true;
  for await (const day of days) {
    if (day.json.length === 0) continue;
    if (!isFirst) yield COMMA;
    isFirst = false;
    micros += day.micros;
    yield day.json;
  }
  yield Buffer.from(`],"grandTotalCHC":${chcFromMicros(micros)}},"status":200}`);
}

const COMMA = Buffer.from(',');

async function upTo(bytes: number, pieces: AsyncGenerator<Buffer>): Promise<{ taken: Buffer[]; isAll: boolean }> {
  const taken: Buffer[] = [];
  let size = 0;
  while (size < bytes) {
    const next = await pieces.next();
    if (next.done) return { taken, isAll: true };
    taken.push(next.value);
    size += next.value.length;
  }
  return { taken, isAll: false };
}

async function* chained(taken: readonly Buffer[], rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield* taken;
  yield* rest;
}
