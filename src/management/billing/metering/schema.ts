import Type from 'typebox';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { ENTITY_TYPES } from '../entity.ts';
import { METER_NAMES } from '../meter.ts';
import { MAX_ID_CHARACTERS } from './event.ts';
import { MAX_LISTED_ERRORS } from './event-batch.ts';

const Name = (description: string) => Type.String({ minLength: 1, maxLength: MAX_ID_CHARACTERS, description });

export const UsageEvents = Type.Array(
  Type.Object({
    id: Name('Unique within the source; events with the same source and id count once'),
    source: Name('The system that metered the usage'),
    time: Type.String({ format: 'date-time', description: 'Time of use; its UTC day is the billed day' }),
    entityType: Type.Enum([...ENTITY_TYPES]),
    entityId: Type.String(),
    meter: Type.Enum([...METER_NAMES]),
    quantity: Type.Union([Type.Number({ minimum: 0 }), Type.String()], {
      description:
        'A decimal with at most 6 decimals: unit-minutes for compute, byte-hours for storage and backup, bytes for all other meters. Send more than 15 digits as a string',
    }),
  }),
);

const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const UsageEventsResult = NamedObject('UsageEventsResult', {
  accepted: Count('New events, stored'),
  duplicates: Count('Events whose source and id were counted before, regardless of their other fields'),
  rejected: Count('Invalid events; the rest of the batch is stored'),
  errors: Type.Array(
    Type.Object({
      index: Type.Integer({
        minimum: 0,
        description: 'Position of the event in the batch, from 0; empty lines are skipped',
      }),
      field: Type.String({ description: 'Empty when the error concerns the whole event' }),
      reason: Type.String(),
    }),
    { maxItems: MAX_LISTED_ERRORS, description: `The errors of the first ${MAX_LISTED_ERRORS} rejected events` },
  ),
});
