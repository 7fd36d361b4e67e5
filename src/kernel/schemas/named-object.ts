import Type, { type TObject, type TObjectOptions, type TProperties } from 'typebox';

/** An object schema that is a component of this name in the OpenAPI document. */
export const NamedObject = <Properties extends TProperties>(
  title: string,
  properties: Properties,
  options: TObjectOptions = {},
): TObject<Properties> => Type.Object(properties, { ...options, title });
