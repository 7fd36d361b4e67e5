import Type from 'typebox';

/** With it, a change is rejected with 412 if the resource was changed since it was read. */
export const IfMatch = Type.Object({
  'if-match': Type.Optional(Type.String({ description: 'The etag that was returned with the resource' })),
});
