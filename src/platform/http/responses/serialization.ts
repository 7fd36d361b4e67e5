import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';

const createCompiler = SerializerSelector();

/** Compiles the schema of a response when the first one is sent: all of them take a large part of the time of a start. */
export const buildSerializer: typeof createCompiler = (schemas, options) => {
  const compile = createCompiler(schemas, options);
  return (route) => {
    let serialize: ReturnType<typeof compile> | undefined;
    return (value) => {
      serialize ??= compile(route);
      return serialize(value);
    };
  };
};
