import Type from 'typebox';
import { PatternText } from '../kernel/pattern-text.ts';
import type { DocumentCondition } from '../state/keyset.ts';
import type { Service } from './service.ts';

const MAX_FILTERS = 50;
const FILTER = /^tag:([A-Za-z0-9._-]{1,128})(?:=([A-Za-z0-9._-]{0,256}))?$/;

/** The query parameter `filter` of the public interface. */
export const TagFilter = Type.Optional(
  Type.Array(
    PatternText(
      FILTER,
      'The filter must be tag:Key or tag:Key=Value; keys and values have letters, digits and . _ -',
      'tag:Key or tag:Key=Value',
    ),
    { maxItems: MAX_FILTERS, description: 'Only services with this tag; with several filters, all must match' },
  ),
);

/** Undefined if there are no filters. */
export function createTagCondition(filters: readonly string[] = []): DocumentCondition<Service> | undefined {
  const tags = filters.map((filter) => {
    const [, key = '', value] = FILTER.exec(filter) ?? [];
    return { key, value };
  });
  if (tags.length === 0) return undefined;
  return {
    texts: tags.flatMap(listTexts),
    matches: ({ details }) =>
      tags.every(({ key, value }) =>
        details.tags?.some((tag) => tag.key === key && (value === undefined || (tag.value ?? '') === value)),
      ),
  };
}

/** What the document of a service with the tag contains. An empty value may be omitted there. */
const listTexts = ({ key, value }: { key: string; value: string | undefined }): string[] =>
  [{ key }, ...(value ? [{ value }] : [])].map((member) => JSON.stringify(member).slice(1, -1));
