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
});
