import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { isoTime } from '../../kernel/time/clock.ts';
import type { SlowQuery } from '../../management/services/driver.ts';

const MAX_LOG_LINES = 5000;
export const DEFAULT_LOG_LINES = 500;

export const LogQuery = Type.Object(
  {
    lines: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_LOG_LINES, description: `Default: ${DEFAULT_LOG_LINES}` }),
    ),
  },
  { additionalProperties: false },
);

export const ServiceLog = NamedObject('ServiceLog', {
  lines: Type.Array(Type.String(), {
    description: 'Oldest first, at most 4,096 characters each. Control characters are shown as \\u001b.',
  }),
  hasEarlier: Type.Boolean({ description: 'The log has lines before these' }),
  reason: Type.Optional(Type.String({ description: 'Why there is no log here' })),
});

export const SlowQueries = NamedObject('SlowQueries', {
  queries: Type.Array(
    Type.Object({
      startedAt: Type.String({ format: 'date-time' }),
      durationMs: Type.Number(),
      readRows: Type.Number(),
      readBytes: Type.Number(),
      memoryBytes: Type.Number({ description: 'The largest use of memory during the query' }),
      query: Type.String({ description: 'At most 2,000 characters' }),
      error: Type.Optional(Type.String({ description: 'Why the query failed' })),
    }),
    { description: 'At most 50, slowest first' },
  ),
  reason: Type.Optional(Type.String({ description: 'Why there is no query log here' })),
});

export const toSlowQuery = (query: SlowQuery): Static<typeof SlowQueries>['queries'][number] => ({
  ...query,
  startedAt: isoTime(query.startedAt),
});
