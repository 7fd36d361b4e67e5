import { describe, expect, it } from 'vitest';
import { type Alert, NEW_STATE } from './alert.ts';
import { normalizeAlert } from './alert-input.ts';
import { buildMessage } from './alert-message.ts';
import type { AlertBody } from './alert-schema.ts';

const window = { startMs: Date.parse('2026-11-18T10:00:00Z'), endMs: Date.parse('2026-11-18T10:05:00Z') };

function build(body: Partial<AlertBody>, more: object = {}) {
  const content = normalizeAlert({ interval: '5m', threshold: 10, thresholdType: 'above', ...body });
  const alert: Alert = {
    id: 'a1',
    organizationId: 'o1',
    content,
    state: NEW_STATE,
    nextEvaluationAt: 0,
    createdAt: 0,
    updatedAt: 0,
  };
  const subject = { name: 'Errors', path: '/console/alerts/a1' };
  const groups = { groupBy: ["LogAttributes['http.route']", 'ServiceName'], labels: ['/pay', 'shop.api'] };
  return buildMessage({
    ...{ alert, subject, kind: 'firing', eventId: 'e1', ...groups, value: 12.3456789, window, consoleUrl: undefined },
    ...more,
  });
}

describe('a message', () => {
  it('says what fires, in which group and window', () => {
    const message = build({}, { consoleUrl: 'https://ops.example', samples: ['{"Body":"failed"}'] });
    expect(message).toMatchObject({
      title: "Firing: Errors (LogAttributes['http.route']:/pay, ServiceName:shop.api): 12.35 ≥ 10",
      link: 'https://ops.example/console/alerts/a1',
      attributes: { ServiceName: 'shop.api' },
      severity: 'error',
    });
    expect(message.body.split('\n')).toEqual([
      "Group: LogAttributes['http.route']:/pay, ServiceName:shop.api",
      'Value: 12.35 (fires if ≥ 10)',
      'Window: 2026-11-18T10:00:00Z to 2026-11-18T10:05:00Z',
      '',
      'Newest rows:',
      '{"Body":"failed"}',
    ]);
  });

  it('uses the templates of the alert', () => {
    const templates = { name: '{{attributes.ServiceName}} fails', message: 'See {{alert.note}} of {{labels.team}}' };
    const message = build({ ...templates, note: 'page 7', labels: { team: 'shop' } });
    expect(message.title).toContain('Firing: shop.api fails (');
    expect(message.body).toMatch(/^See page 7 of shop\n/);
  });

  it('is sent with the text of a template that exceeds its limits', () => {
    const loop = `${'{{#each @root.alert}}'.repeat(4)}x${'{{/each}}'.repeat(4)}`;
    expect(build({ message: loop }).body.startsWith(loop)).toBe(true);
  });
});
