import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { listExposed, listMetrics } from '../support/promql.ts';
import { useServer } from '../support/server.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const dashboard: Json = JSON.parse(read('deploy/grafana/pilothouse.json'));
const rules: Json[] = parse(read('deploy/prometheus/alerts.yaml')).groups.flatMap((group: Json) => group.rules);
const panels: Json[] = dashboard.panels.filter(({ type }: Json) => type !== 'row');

/** Labels that Prometheus adds to every sample, and the metric that it records for every target. */
const ADDED_LABELS = ['instance', 'job'];
const ADDED_METRICS = ['up'];

const expressions: [place: string, expression: string][] = [
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }: Json): [string, string] => [title, expr])),
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
];

describe('the metrics of an expression', () => {
  it('are found with their labels', () => {
    const expression = 'topk(3, sum by (a, le) (rate(m_total{b="x, y",c!~"1|2"}[$__rate_interval])) / n{}) > bool 0.5';
    expect(listMetrics(expression)).toEqual([
      { name: 'm_total', labels: ['b', 'c', 'a', 'le'] },
      { name: 'n', labels: ['a', 'le'] },
    ]);
  });
});

describe('the dashboard and the alert rules', () => {
  const server = useServer('libsql', { args: ['--otlp-endpoint', 'http://127.0.0.1:1'] });
  let exposed: Map<string, Set<string>>;

  beforeAll(async () => {
    // The engine has metrics after the first query.
    expect((await server.call({ path: '/api/v2/sources/logs/columns', token: acme.token })).status).toBe(200);
    exposed = listExposed((await server.call({ path: '/metrics' })).text);
  });

  it('use metrics and labels that a server exposes', () => {
    for (const [place, expression] of expressions) {
      const metrics = listMetrics(expression);
      expect(metrics, place).not.toEqual([]);
      for (const { name, labels } of metrics.filter((metric) => !ADDED_METRICS.includes(metric.name))) {
        expect([...exposed.keys()], place).toContain(name);
        const known = [...ADDED_LABELS, ...(exposed.get(name) ?? [])];
        for (const label of labels) expect(known, `${place}: ${name}{${label}}`).toContain(label);
      }
    }
  });

  it('use every metric of Pilothouse at least once', () => {
    const used = new Set(expressions.flatMap(([, expression]) => listMetrics(expression).map(({ name }) => name)));
    const families = [...exposed.keys()].map((name) => name.replace(/_(bucket|sum|count)$/, ''));
    const missing = families.filter(
      (family) => family.startsWith('pilothouse_') && ![...used].some((name) => name.startsWith(family)),
    );
    expect(missing).toEqual([]);
  });
});

describe('the dashboard', () => {
  it('has distinct panel ids, and panels that do not overlap', () => {
    const ids = dashboard.panels.map(({ id }: Json) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }: Json) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...dashboard.panels.map(({ gridPos: { x, w } }: Json) => x + w))).toBe(24);
  });
});

describe('an alert', () => {
  const document = read('docs/monitoring.md');

  it('says what to do', () => {
    for (const { alert, labels, annotations } of rules) {
      const { summary, description, runbook } = annotations;
      for (const text of [summary, description]) expect(text.length, alert).toBeGreaterThan(20);
      expect(labels.severity, alert).toMatch(/^(critical|warning|info)$/);
      expect(runbook).toBe(`docs/monitoring.md#${alert.toLowerCase()}`);
      expect(document).toContain(`\n### ${alert}\n\n`);
    }
  });

  it('is documented only if it exists', () => {
    const documented = [...document.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(documented).toEqual(rules.map(({ alert }) => alert));
  });
});
