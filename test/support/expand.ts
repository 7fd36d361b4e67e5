import type { Json } from './client.ts';

/** The document with every reference to a component replaced by the component. */
export function expandReferences(document: Json): Json {
  const find = (reference: string): Json =>
    reference
      .slice('#/'.length)
      .split('/')
      .reduce((value: Json, name) => value[name], document);
  const expand = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(expand);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...members } = value;
    if (typeof $ref === 'string') return { ...expand(find($ref)), ...members };
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, expand(member)]));
  };
  return { ...document, paths: expand(document.paths) };
}
