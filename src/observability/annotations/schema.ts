import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { PatternText } from '../../kernel/schemas/pattern-text.ts';
import { StorableText as text } from '../../kernel/schemas/storable-text.ts';
import { Moment, TileQuery } from '../charts/schema.ts';
import { ANNOTATION_KINDS, type Annotation, DEFAULT_LISTED, MAX_LISTED } from './annotation.ts';

export const AnnotationBody = NamedObject('AnnotationInput', {
  title: text({ minLength: 1, maxLength: 200 }),
  text: Type.Optional(text({ maxLength: 2000 })),
  time: Type.Optional(Moment),
  endTime: Type.Optional(Moment),
  tags: Type.Optional(Type.Array(text({ maxLength: 32 }), { maxItems: 50 })),
  dashboardId: Type.Optional(text({ minLength: 1, maxLength: 64, description: 'Default: on every dashboard' })),
  link: Type.Optional(text({ maxLength: 2048, description: 'A page about the event, http or https' })),
});

export const AnnotationRecord = NamedObject('Annotation', {
  id: Type.String(),
  kind: Type.Enum([...ANNOTATION_KINDS], {
    description:
      'deploy: created over HTTP. scaling: a scaling change of a service in the audit log. alert: from the time when an alert fired until it was resolved. The last two cannot be deleted',
  }),
  time: Type.Integer({ description: 'Epoch milliseconds' }),
  endTime: Type.Optional(Type.Integer()),
  title: Type.String(),
  text: Type.String(),
  tags: Type.Array(Type.String()),
  dashboardId: Type.Optional(Type.String()),
  link: Type.Optional(Type.String()),
  createdBy: Type.String({ description: 'The name of the actor' }),
});

export const AnnotationQuery = Type.Object(
  {
    start: TileQuery.properties.start,
    end: TileQuery.properties.end,
    dashboardId: Type.Optional(text({ maxLength: 64, description: 'Without those of other dashboards. Default: all' })),
    limit: Type.Optional(
      PatternText(
        /^(?:[1-9][0-9]{0,2}|1000)$/,
        `The value must be an integer from 1 to ${MAX_LISTED}`,
        `The newest ones. Default: ${DEFAULT_LISTED}`,
      ),
    ),
  },
  { additionalProperties: false },
);

export type AnnotationBody = Static<typeof AnnotationBody>;

/** Without members that are undefined. */
export const toAnnotationRecord = (annotation: Annotation): Static<typeof AnnotationRecord> =>
  JSON.parse(JSON.stringify(annotation));
