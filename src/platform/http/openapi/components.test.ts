import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { createSchemaNaming, type Schema } from './components.ts';

const Entry = NamedObject('Entry', { source: Type.String() }, { description: 'One entry' });
const reference = { $ref: '#/components/schemas/Entry' };

describe('schemas with a title', () => {
  it('are components, wherever they occur', () => {
    const { schemas, lift } = createSchemaNaming();
    const places = Type.Object({
      one: Entry,
      optional: Type.Optional(Entry),
      list: Type.Array(Entry),
      choice: Type.Union([Entry, Type.Null()]),
      map: Type.Record(Type.String(), Type.Object({}), { additionalProperties: Entry }),
    });
    const lifted = lift(JSON.parse(JSON.stringify(places)) as Schema);
    expect(lifted.properties).toMatchObject({
      one: reference,
      optional: reference,
      list: { type: 'array', items: reference },
      choice: { anyOf: [reference, { type: 'null' }] },
      map: { additionalProperties: reference },
    });
    expect(schemas).toEqual({
      Entry: {
        type: 'object',
        required: ['source'],
        properties: { source: { type: 'string' } },
        description: 'One entry',
      },
    });
  });

  it('may contain each other', () => {
    const { schemas, lift } = createSchemaNaming();
    expect(lift(NamedObject('Outer', { entry: Entry }) as Schema)).toEqual({ $ref: '#/components/schemas/Outer' });
    expect(schemas.Outer?.properties).toEqual({ entry: reference });
  });

  it('may have another description in each place', () => {
    const { lift } = createSchemaNaming();
    expect(lift(Entry as Schema)).toEqual(reference);
    expect(lift({ ...Entry, description: 'Another' } as Schema)).toEqual({ ...reference, description: 'Another' });
  });

  it('may have keywords for the document only', () => {
    const { lift } = createSchemaNaming();
    const text = Type.String({ maxLength: 10, documented: { pattern: '^[a-z]*$' } });
    expect(lift(text as Schema)).toEqual({ type: 'string', maxLength: 10, pattern: '^[a-z]*$' });
  });

  it('are an error if two different ones have the same title', () => {
    const { lift } = createSchemaNaming();
    lift(Entry as Schema);
    const other = NamedObject('Entry', { source: Type.String({ maxLength: 10 }) });
    expect(() => lift(Type.Object({ other }) as Schema)).toThrow(
      'Two different schemas have the title Entry; give one of them another title',
    );
  });

  it('are an error if the title is not a type name', () => {
    expect(() => createSchemaNaming().lift({ title: 'an entry' })).toThrow('is not a type name such as ApiKey');
  });

  it('are not looked for in values', () => {
    const { schemas, lift } = createSchemaNaming();
    const schema = { type: 'object', properties: { title: { type: 'string' } }, examples: [{ title: 'Text' }] };
    expect(lift(schema)).toEqual(schema);
    expect(schemas).toEqual({});
  });
});
