import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { isoTime } from '../../kernel/time/clock.ts';
import { BLOCKER_TYPES, DRIVERS, type IdleBlocker } from '../../management/services/driver.ts';
import { getEffectiveScaling } from '../../management/services/scaling/schedule.ts';
import type { Service } from '../../management/services/service.ts';
import { observe } from '../../management/services/simulated.ts';
import type { Reconciler } from './reconciler.ts';

const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));
const text = () => Type.Optional(Type.String());

export const IdleStatus = NamedObject('ServiceIdleStatus', {
  state: Type.String(),
  idleScaling: Type.Boolean(),
  idleTimeoutMinutes: Type.Number(),
  idleAt: time('When the service idles at the earliest if no further query arrives'),
  lastQueryAt: time('The last query that counts as use'),
  runningQueries: Type.Optional(Type.Integer()),
  ignoredQueries: Type.Optional(
    Type.Integer({
      description: 'Queries that do not count as use, such as health probes, since the endpoint was opened',
    }),
  ),
  blockers: Type.Array(Type.Object({ type: Type.Enum([...BLOCKER_TYPES]), detail: Type.String() }), {
    description: 'Why the service is not idle; empty while it is idle or stopped',
  }),
  lastWake: Type.Optional(
    Type.Object(
      {
        at: Type.String({ format: 'date-time' }),
        cause: Type.Enum(['query', 'command', 'backup']),
        address: text(),
        userAgent: text(),
        statement: Type.Optional(Type.String({ description: 'The first word of the query' })),
      },
      { description: 'What woke the service last' },
    ),
  ),
});

export function toIdleStatus(
  service: Readonly<Service>,
  found: ReturnType<Reconciler['findIdleStatus']>,
  now: number,
): Static<typeof IdleStatus> {
  const { state } = observe(service, now);
  const { idleScaling, idleTimeoutMinutes } = getEffectiveScaling(service, now).scaling;
  const { lastWake } = service.observed;
  const traffic = found?.traffic;
  return {
    state,
    idleScaling,
    idleTimeoutMinutes,
    blockers: listBlockers(service, state, found),
    ...(found?.idleAt === undefined ? undefined : { idleAt: isoTime(found.idleAt) }),
    ...(traffic?.lastCountedQueryAt === undefined ? undefined : { lastQueryAt: isoTime(traffic.lastCountedQueryAt) }),
    ...(traffic ? { runningQueries: traffic.running, ignoredQueries: traffic.ignoredQueries } : undefined),
    ...(lastWake ? { lastWake: { ...lastWake, at: isoTime(lastWake.at) } } : undefined),
  };
}

function listBlockers(
  { driver, desiredState }: Readonly<Service>,
  state: string,
  found: ReturnType<Reconciler['findIdleStatus']>,
): IdleBlocker[] {
  if (state === 'idle' || state === 'stopped') return [];
  if (!DRIVERS[driver].isReconciled) return [{ type: 'driver', detail: 'A simulated service does not idle by itself' }];
  if (state !== 'running' || desiredState !== 'running') return [{ type: 'new', detail: `The service is ${state}` }];
  if (!found) return [{ type: 'driver', detail: 'Another node is responsible for the service' }];
  return found.blockers;
}
