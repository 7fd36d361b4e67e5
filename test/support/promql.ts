/** A metric of a PromQL expression and the labels that are used with it. */
interface UsedMetric {
  name: string;
  labels: string[];
}

const AGGREGATIONS = 'sum|min|max|avg|count|topk|bottomk|quantile|stddev|group';
const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const SELECTOR = /([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?/g;
const WORDS = new Set(['and', 'or', 'unless', 'bool', 'offset', ...AGGREGATIONS.split('|')]);

const listNames = (text: string): string[] => text.split(',').flatMap((name) => name.trim() || []);

/**
 * The metrics of an expression. Labels of a grouping count for every metric of the expression. Enough for our files: label
 * values must not contain braces, and no metric may have the name of a function.
 */
export function listMetrics(expression: string): UsedMetric[] {
  const groupings: string[] = [];
  const rest = expression.replaceAll(/\[[^\]]*\]/g, '').replaceAll(GROUPING, (_, labels: string) => {
    groupings.push(...listNames(labels));
    return ' ';
  });
  const metrics: UsedMetric[] = [];
  for (const { 0: text, 1: name = '', 2: matchers = '', index } of rest.matchAll(SELECTOR)) {
    const isFunction = /^\s*\(/.test(rest.slice(index + text.length));
    if (WORDS.has(name) || (isFunction && matchers === '')) continue;
    const matched = [...matchers.matchAll(/([a-zA-Z_]\w*)\s*(?:=~|!~|!=|=)\s*"[^"]*"/g)].map(([, label = '']) => label);
    metrics.push({ name, labels: [...new Set([...matched, ...groupings])] });
  }
  return metrics;
}

/** The labels of each metric in the text format of Prometheus. */
export function listExposed(text: string): Map<string, Set<string>> {
  const exposed = new Map<string, Set<string>>();
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/gm)) {
    const known = exposed.get(name) ?? new Set();
    for (const [, label = ''] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label);
    exposed.set(name, known);
  }
  return exposed;
}
