import Type from 'typebox';
import { ENTITY_TYPES, METRICS } from '../cost.ts';
import { LISTED_ERRORS } from './batch.ts';
import { MAX_ID_CHARACTERS } from './event.ts';

const Name = (description: string) => Type.String({ minLength: 1, maxLength: MAX_ID_CHARACTERS, description });

export const UsageEvents = Type.Array(
  Type.Object({
    id: Name('Names the event within its source; the same source and id count once, for ever'),
    source: Name('Who metered it'),
    time: Type.String({ format: 'date-time', description: 'When it was used; decides the UTC day it is billed on' }),
    entityType: Type.Enum([...ENTITY_TYPES]),
    entityId: Type.String(),
    meter: Type.Enum([...METRICS]),
    quantity: Type.Union([Type.Number({ minimum: 0 }), Type.String()], {
      description:
        'Decimal, at most 6 decimals: unit-minutes of compute, byte-hours of storage and backup, bytes of the rest. More than 15 digits as a text',
    }),
  }),
);

const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const TakenUsage = Type.Object({
  accepted: Count('Stored, and counted from now on'),
  duplicates: Count('Counted before: the same source and id, whatever else they say'),
  rejected: Count('Not stored; the others of the batch are'),
  errors: Type.Array(
    Type.Object({
      index: Type.Integer({ minimum: 0, description: 'Which event of the batch, from 0; empty lines do not count' }),
      field: Type.String({ description: 'Empty when it is the event as a whole' }),
      reason: Type.String(),
    }),
    { maxItems: LISTED_ERRORS, description: `What is wrong with the first ${LISTED_ERRORS} of the rejected ones` },
  ),
});
