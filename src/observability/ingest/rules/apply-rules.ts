import { memoize } from '../../../kernel/memo.ts';
import type { TelemetryRule } from '../../../management/organizations/organization.ts';
import type { Expression } from '../../expressions/expression.ts';
import { parseLucene } from '../../expressions/lucene/lucene.ts';
import { parseCondition } from '../../expressions/sql/sql.ts';
import type { FindDropRule } from '../wire/batch.ts';
import type { Signal } from '../wire/otlp-messages.ts';
import type { RowBuffer } from '../wire/row-buffer.ts';
import { hashBytes } from '../wire/shared-hashes.ts';
import { toScope } from './columns.ts';
import { compile } from './evaluate.ts';
import { RowReader } from './row-reader.ts';
import type { Evaluate } from './value.ts';

type Condition = Pick<TelemetryRule, 'signal' | 'where' | 'whereLanguage'>;

const parse = ({ signal, where, whereLanguage }: Condition): Expression | undefined =>
  whereLanguage === 'sql' ? parseCondition(where, toScope(signal)) : parseLucene(where, toScope(signal));

/** Throws an ExpressionError for a condition that is not valid, or that rules cannot evaluate. An empty one is true. */
export function compileCondition(condition: Condition, reader: RowReader): Evaluate {
  const expression = parse(condition);
  return expression ? compile(expression, reader) : () => true;
}

/** What stays together when a part is kept: a trace with its logs, a metric stream; a log without a trace stands for itself. */
const GROUPS: Readonly<Record<Signal, readonly string[]>> = {
  logs: ['TraceId'],
  traces: ['TraceId'],
  metrics: ['ServiceName', 'ResourceAttributes', 'ScopeName', 'MetricName', 'Attributes'],
};
/** Of the empty string: its length. */
const NO_TRACE = 1;
const HASHES = 2 ** 32;

function compileAll(signal: Signal, rules: readonly TelemetryRule[]): FindDropRule {
  const reader = new RowReader(signal);
  const group = GROUPS[signal].map((name) => reader.indexOf(name));
  const compiled = rules.map((rule) => ({ ...rule, matches: compileCondition(rule, reader) }));

  /** From 0 to 1. The same on every node, and for every rule. */
  function place({ bytes, committed, length }: RowBuffer): number {
    let hash: number | undefined;
    for (const index of group) {
      const [, start, end] = reader.range(index);
      if (signal !== 'metrics' && end - start === NO_TRACE) return (hashBytes(bytes, committed, length) >>> 0) / HASHES;
      hash = hashBytes(bytes, start, end, hash);
    }
    return ((hash ?? 0) >>> 0) / HASHES;
  }

  return (out) => {
    reader.open(out);
    const rule = compiled.find(({ matches }) => matches(null) === true);
    const isKept = !rule || (rule.action === 'sample' && place(out) < (rule.keepPercent ?? 0) / 100);
    reader.close();
    return isKept ? undefined : rule.name;
  };
}

const compileOnce = memoize((key) => {
  const { signal, rules } = JSON.parse(key) as { signal: Signal; rules: TelemetryRule[] };
  return compileAll(signal, rules);
}, 200);

/** The first rule whose condition is true decides. Compiled once for the same rules. */
export const compileRules = (signal: Signal, rules: readonly TelemetryRule[]): FindDropRule =>
  compileOnce(JSON.stringify({ signal, rules }));
