import { MISSING, type Violation } from '../../../kernel/errors.ts';
import { getAggregation } from '../aggregations.ts';
import { splitExpressions } from '../queries/expression-list.ts';
import { MAX_FIELDS, MAX_GROUP_BY } from '../series-schema.ts';
import { isDistribution, listItems } from './config.ts';
import { type SelectItem, type TileConfig, UNSUPPORTED_DISPLAY_TYPES } from './config-schema.ts';

const RAW_SQL =
  'Tiles with raw SQL are not supported: the server parses every expression, so that a tile can only read rows of its organization. Use select, where and groupBy instead';

/** Checks rules across several members. `path` is that of the config. */
export function listConfigViolations(config: TileConfig, path: string): Violation[] {
  const violations: Violation[] = [];
  const report = (member: string, rule: string, value: unknown) =>
    violations.push({ path: `${path}.${member}`, rule, value });
  const { configType, displayType, sourceId, select } = config;
  if (configType === 'sql') report('configType', RAW_SQL, configType);
  else if (configType === 'promql') report('configType', 'Tiles with PromQL are not supported', configType);
  else if ((UNSUPPORTED_DISPLAY_TYPES as readonly string[]).includes(displayType))
    report('displayType', `Tiles of type ${displayType} are not supported`, displayType);
  if (violations.length > 0 || displayType === 'markdown') return violations;
  if (isTooLong(config.groupBy, MAX_GROUP_BY)) report('groupBy', formatLimit(MAX_GROUP_BY), config.groupBy);
  if (sourceId === undefined) report('sourceId', `The value is required for ${displayType}`, MISSING);
  if (select === undefined) report('select', `The value is required for ${displayType}`, MISSING);
  else if (displayType === 'search') {
    if (typeof select !== 'string') report('select', 'The value must be a string for search', select);
    else if (isTooLong(select, MAX_FIELDS)) report('select', formatLimit(MAX_FIELDS), select);
  } else if (typeof select === 'string') report('select', `The value must be a list for ${displayType}`, select);
  else if (isDistribution(config)) listValueViolations(select, report, displayType);
  else for (const [index, item] of select.entries()) listItemViolations(config, item, `select[${index}]`, report);
  return violations;
}

/** Together with parentheses and AND, they are the `where` of a series. */
const MAX_COMBINED_WHERE = 9990;

const isTooLong = (list: string | undefined, max: number): boolean =>
  list !== undefined && splitExpressions(list, max + 1).length > max;
const formatLimit = (max: number): string => `The value must have at most ${max} expressions`;

type Report = (member: string, rule: string, value: unknown) => void;

function listValueViolations(select: readonly SelectItem[], report: Report, displayType: string): void {
  if (select.length > 1) report('select', `The list must have exactly one element for ${displayType}`, select);
  const value = select[0]?.valueExpression;
  if (value === undefined || value.trim() === '')
    report('select[0].valueExpression', `The value is required for ${displayType}`, value ?? MISSING);
}

function listItemViolations(config: TileConfig, item: SelectItem, path: string, report: Report): void {
  const { aggFn, level, where = '', whereLanguage = 'lucene' } = item;
  if (aggFn === undefined) report(`${path}.aggFn`, `The value is required for ${config.displayType}`, MISSING);
  else if (getAggregation(aggFn).needsLevel && level === undefined)
    report(`${path}.level`, `The value is required for aggFn ${aggFn}`, MISSING);
  const isCombined = where.trim() !== '' && (config.where ?? '').trim() !== '';
  if (isCombined && whereLanguage !== (config.whereLanguage ?? 'lucene'))
    report(`${path}.whereLanguage`, 'The language must be that of the where of the tile', whereLanguage);
  if (isCombined && where.length + (config.where ?? '').length > MAX_COMBINED_WHERE)
    report(
      `${path}.where`,
      `The value and the where of the tile must have at most ${MAX_COMBINED_WHERE} characters`,
      where,
    );
}

/** The first member that changes the numbers of a tile in a way that the server cannot compute. */
export function findUnsupportedMember(config: TileConfig): string | undefined {
  if (config.formulas && config.formulas.length > 0) return 'formulas';
  if ((config.having ?? '').trim() !== '') return 'having';
  for (const [index, { periodAggFn, countExpression = '' }] of listItems(config).entries()) {
    if (periodAggFn !== undefined) return `select[${index}].periodAggFn`;
    if (isDistribution(config) && !/^\s*(count\(\s*\*?\s*\))?\s*$/i.test(countExpression))
      return `select[${index}].countExpression`;
  }
  return undefined;
}
