import { describe, expect, it } from 'vitest';
import type { CompletedRequest } from '../../kernel/metrics/request-series.ts';
import { createRequestLines } from './request-lines.ts';

const resource = { 'service.name': 'pilothouse' };
const request: CompletedRequest = {
  requestId: '1b4e28ba-2fa1-41d2-883f-0016d3cca427',
  operation: 'instanceGet',
  method: 'GET',
  route: '/v1/organizations/:organizationId/services/:serviceId',
  status: 200,
  ms: 1.25,
  key: '0001',
  organizationId: 'o-1',
};

describe('the lines of a request', () => {
  const formatLines = createRequestLines(resource);
  const formatRows = (changes: Partial<CompletedRequest>, oneIn = 1) => {
    const { log, span } = formatLines({ ...request, ...changes }, 1_795_000_000_500, 'o-1', oneIn);
    expect([log.endsWith('\n'), span.endsWith('\n')]).toEqual([true, true]);
    return { log: JSON.parse(log), span: JSON.parse(span) };
  };

  it('are JSON with its end and start times, and share its trace', () => {
    const { log, span } = formatRows({});
    expect([log.Timestamp, span.Timestamp, span.Duration]).toEqual([
      '1795000000.500000000',
      expect.stringMatching(/^1795000000\.49875\d{4}$/),
      1_250_000,
    ]);
    expect([log.TraceId, log.SpanId]).toEqual(['1b4e28ba2fa141d2883f0016d3cca427', '883f0016d3cca427']);
    expect([span.TraceId, span.SpanId]).toEqual([log.TraceId, log.SpanId]);
    expect(log.LogAttributes).toMatchObject({ 'credential.suffix': '0001', duration_ms: '1.25' });
    expect(log.LogAttributes).not.toHaveProperty('sample.rate');
  });

  it('are valid JSON with any key suffix', () => {
    expect(formatRows({ key: '"}\\\n' }).log.LogAttributes['credential.suffix']).toBe('"}\\\n');
    expect(formatRows({ key: undefined }).log.LogAttributes).not.toHaveProperty('credential.suffix');
  });

  it('are warnings for client errors and errors for server errors', () => {
    const severities = [200, 404, 503].map((status) => formatRows({ status }).log.SeverityText);
    expect(severities).toEqual(['INFO', 'WARN', 'ERROR']);
    expect([formatRows({ status: 404 }).span.StatusCode, formatRows({ status: 500 }).span.StatusCode]).toEqual([
      'Unset',
      'Error',
    ]);
  });

  it('distinguish the routes of one operation, and contain the sampling rate', () => {
    expect(formatRows({ operation: 'openapi', route: '/v1' }).log.Body).toBe('GET /v1 200');
    expect(formatRows({ operation: 'openapi', route: '/openapi.json' }).log.Body).toBe('GET /openapi.json 200');
    expect(formatRows({ operation: 'unknown', route: '' }).span.SpanName).toBe('GET unknown');
    expect(formatRows({}, 30).span.SpanAttributes['sample.rate']).toBe('30');
  });
});
