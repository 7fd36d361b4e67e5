import Type from 'typebox';
import { PatternText } from '../../kernel/schemas/pattern-text.ts';

const MAX_FILTERS = 50;
const PREFIX = 'tag:';
const FILTER = /^tag:[A-Za-z0-9._-]{1,128}(?:=[A-Za-z0-9._-]{0,256})?$/;

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

/** The tags that a service must have, as `service_tags` has them; undefined if there are no filters. */
export const toRequiredTags = (filters: readonly string[] = []): ReadonlySet<string> | undefined =>
  filters.length > 0 ? new Set(filters.map((filter) => filter.slice(PREFIX.length))) : undefined;
