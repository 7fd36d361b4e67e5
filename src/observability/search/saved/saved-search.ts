import type { Violation } from '../../../kernel/errors.ts';
import { createWeakEtag } from '../../../kernel/etag.ts';
import type { SavedSearchBody, SavedSearchFilter, SavedSearchRecord } from './saved-search-schema.ts';

/** What a client sends, with every member. */
export type SavedSearchContent = Required<SavedSearchBody>;

/** A search that is kept. Times are epoch milliseconds. */
export interface SavedSearch {
  id: string;
  organizationId: string;
  content: SavedSearchContent;
  createdAt: number;
  updatedAt: number;
}

/** Omitted members have their default: a saved search is always replaced as a whole. */
export const normalizeSavedSearch = ({ name, sourceId, ...body }: SavedSearchBody): SavedSearchContent => ({
  name: name.trim(),
  sourceId,
  select: body.select ?? '',
  where: body.where ?? '',
  whereLanguage: body.whereLanguage ?? 'lucene',
  orderBy: body.orderBy ?? '',
  tags: body.tags ?? [],
  filters: (body.filters ?? []).map(normalizeFilter),
});

const normalizeFilter = (filter: SavedSearchFilter): SavedSearchFilter =>
  filter.type === 'sql_ast'
    ? { type: filter.type, operator: filter.operator, left: filter.left, right: filter.right }
    : { type: filter.type ?? 'sql', condition: filter.condition };

export const toRecord = ({ id, organizationId, content, createdAt, updatedAt }: SavedSearch): SavedSearchRecord => ({
  id,
  teamId: organizationId,
  ...content,
  createdAt: new Date(createdAt).toISOString(),
  updatedAt: new Date(updatedAt).toISOString(),
});

export const createSavedSearchEtag = ({ content }: SavedSearch): string => createWeakEtag(content);

const LITERAL = String.raw`(?:'(?:[^'\\]|\\.|'')*'|-?[0-9.eE+]+|true|false|NULL)`;
/** The form of a filter that a search page can show as chosen values or as a range of a column. */
const CHOICE = new RegExp(
  String.raw`^\S[^]*?\s(?:NOT\s+)?(?:IN\s*\(\s*${LITERAL}(?:\s*,\s*${LITERAL})*\s*\)|BETWEEN\s+${LITERAL}\s+AND\s+${LITERAL})\s*$`,
  'i',
);
const FILTER_RULE =
  "The condition must have the form <column> IN ('a', …), NOT IN (…) or BETWEEN 1 AND 2; others are only accepted if the saved search already has them";

/** `known` are the filters that the saved search has: they may stay, whatever their form. */
export function listFilterViolations(
  { filters }: SavedSearchContent,
  known: readonly SavedSearchFilter[] = [],
): Violation[] {
  const kept = new Set(known.map((filter) => JSON.stringify(filter)));
  return filters.flatMap((filter, index) => {
    const isChoice = filter.type === 'sql' && CHOICE.test(filter.condition.trim());
    if (isChoice || kept.has(JSON.stringify(filter))) return [];
    const value = filter.type === 'sql_ast' ? filter.type : filter.condition;
    return [{ path: `filters[${index}]`, rule: FILTER_RULE, value }];
  });
}

export const listNameViolations = ({ name }: SavedSearchContent): Violation[] =>
  name === '' ? [{ path: 'name', rule: 'The value must not be blank', value: name }] : [];
