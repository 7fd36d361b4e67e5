import { describe, expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';

describe('/metrics', () => {
  it('reports the number and duration of rated days', async () => {
    const metrics = createMetrics();
    metrics.rating(0.25);
    metrics.rating(0.5);
    const text = await metrics.registry.metrics();
    expect(text).toMatch(/^pilothouse_rating_day_seconds_count 2$/m);
    expect(text).toMatch(/^pilothouse_rating_day_seconds_sum 0\.75$/m);
  });

  it('counts received telemetry by signal and outcome', async () => {
    const metrics = createMetrics();
    metrics.ingest('logs', { accepted: 10, rejected: 1, dropped: [], removed: [], unanswered: 0 });
    metrics.ingest('logs', { accepted: 2, rejected: 0, dropped: [], removed: [], unanswered: 0 });
    const text = await metrics.registry.metrics();
    expect(text).toMatch(/^pilothouse_ingest_records_total\{signal="logs",outcome="accepted"\} 12$/m);
    expect(text).toMatch(/^pilothouse_ingest_records_total\{signal="logs",outcome="rejected"\} 1$/m);
  });
});
