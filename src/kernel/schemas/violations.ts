import type { TSchema } from 'typebox';
import { MISSING, type Violation } from '../errors.ts';
import { findPatternRule } from './pattern-text.ts';
import { listSchemaErrors, type SchemaError } from './schema-errors.ts';

/** The parameters of the keywords that have their own message. */
interface Params {
  requiredProperties?: string[];
  additionalProperties?: string[];
  allowedValues?: unknown[];
  type?: string;
  types?: string[];
  limit?: number;
  multipleOf?: number;
  format?: string;
  pattern?: string | RegExp;
}

/** Members whose values are never echoed: secrets, and URLs that often contain one. */
const SECRET_MEMBERS = new Set([
  'hashData',
  'keySecret',
  'newDoubleSha1Hash',
  'newPasswordHash',
  'password',
  'token',
  'webhook',
]);

/**
 * One violation per member, in document order, with `prefix` in front of the paths. Stops after `maxViolations`, without
 * looking at the rest of the value.
 */
export function listViolations(
  schema: TSchema,
  value: unknown,
  prefix: string,
  maxViolations = Number.POSITIVE_INFINITY,
): Violation[] {
  const byPath = new Map<string, Violation>();
  for (const error of listSchemaErrors(schema, value)) {
    for (const { segments, rule, isMissing } of listRules(error, prefix)) {
      const path = formatPath(prefix, segments);
      if (byPath.has(path)) continue;
      const secret = segments.some((name) => SECRET_MEMBERS.has(name));
      byPath.set(path, { path, rule, value: isMissing ? MISSING : findValue(value, segments), secret });
      if (byPath.size >= maxViolations) return [...byPath.values()];
    }
  }
  return [...byPath.values()];
}

interface ViolatedRule {
  segments: string[];
  rule: string;
  isMissing?: boolean;
}

/** The members that a schema error is about: a missing or unknown member is reported on its parent. */
function listRules({ keyword, instancePath, params, message }: SchemaError, prefix: string): ViolatedRule[] {
  const segments = instancePath.split('/').slice(1).map(unescapePointer);
  const { requiredProperties = [], additionalProperties = [] }: Params = params;
  switch (keyword) {
    case 'required':
      return requiredProperties.map((name) => ({
        segments: [...segments, name],
        rule: 'The value is required',
        isMissing: true,
      }));
    case 'additionalProperties':
      return additionalProperties.map((name) => ({
        segments: [...segments, name],
        rule: prefix === 'query' ? 'Unknown parameter' : 'Unknown member',
      }));
    default:
      return [{ segments, rule: formatRule(keyword, params, message) }];
  }
}

function formatRule(keyword: string, params: Params, message = 'The value is not valid'): string {
  const { limit, type = '', allowedValues = [], multipleOf, types = [], format, pattern = '' } = params;
  switch (keyword) {
    case 'type':
      return `The value must be ${withArticle(type)}`;
    case 'anyOf':
      return `The value must be ${types.map(withArticle).join(' or ')}`;
    case 'enum':
      return `The value must be one of ${allowedValues.join(', ')}`;
    case 'minimum':
      return `The value must be at least ${limit}`;
    case 'maximum':
      return `The value must be at most ${limit}`;
    case 'multipleOf':
      return `The value must be a multiple of ${multipleOf}`;
    case 'minLength':
      return limit === 1 ? 'The value must not be empty' : `The value must have at least ${limit} characters`;
    case 'maxLength':
      return `The value must have at most ${limit} characters`;
    case 'minItems':
      return `The list must have at least ${limit} element${limit === 1 ? '' : 's'}`;
    case 'maxItems':
      return `The list must have at most ${limit} elements`;
    case 'uniqueItems':
      return 'The list must not repeat an element';
    case 'format':
      return `The value must be a valid ${format}`;
    case 'pattern':
      return findPatternRule(typeof pattern === 'string' ? pattern : pattern.source) ?? 'The value is not valid';
    default:
      return message;
  }
}

function withArticle(type: string): string {
  if (type === 'null') return 'null';
  return `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`;
}

/** `ipAccessList`, `0`, `source` → `request body.ipAccessList[0].source`. */
function formatPath(prefix: string, segments: readonly string[]): string {
  const path = segments
    .map((segment) => (/^\d+$/.test(segment) ? `[${segment}]` : `.${segment.slice(0, 64)}`))
    .join('');
  return prefix === '' ? path.replace(/^\./, '') : prefix + path;
}

function findValue(root: unknown, segments: readonly string[]): unknown {
  let value = root;
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return MISSING;
    value = (value as Record<string, unknown>)[segment];
  }
  return value;
}

const unescapePointer = (segment: string) => segment.replaceAll('~1', '/').replaceAll('~0', '~');
