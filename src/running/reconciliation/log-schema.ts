import Type from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';

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
