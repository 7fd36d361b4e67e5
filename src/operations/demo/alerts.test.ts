import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../kernel/time/clock.ts';
import { demoAlerts, demoSavedSearches } from './alerts.ts';
import { createDemoTelemetry } from './telemetry/generator.ts';
import { fullHour, severityAt } from './telemetry/traffic.ts';

/** The night, in which the services have the fewest errors; generating a whole day takes long. */
const START_MS = Date.parse('2026-11-11T01:00:00Z');
const HOURS = 6;
const WINDOW_MS = 5 * MINUTE_MS;
const [errors] = demoAlerts;
const WATCHED = ['checkout', 'payments'];

/** The starts of the windows in which a service has as many errors as the alert needs. */
function listFiringWindows(): Map<string, number[]> {
  const telemetry = createDemoTelemetry({ organizationId: 'o', seed: 'shop', fromMs: START_MS });
  const { logs } = telemetry.advance(START_MS + HOURS * 60 * MINUTE_MS);
  const counts = new Map<string, number>();
  for (const { SeverityText, ServiceName, Timestamp } of logs) {
    if (SeverityText !== 'ERROR' || !WATCHED.includes(ServiceName)) continue;
    const startMs = Math.floor((Number(Timestamp) * 1000) / WINDOW_MS) * WINDOW_MS;
    const key = `${ServiceName} ${startMs}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const firing = new Map<string, number[]>();
  for (const [key, count] of counts) {
    const [service = '', startMs] = key.split(' ');
    if (count >= errors.threshold) firing.set(service, [...(firing.get(service) ?? []), Number(startMs)]);
  }
  return firing;
}

describe('the alert about errors of the demo', () => {
  it('counts by service and window what this test counts', () => {
    expect(demoSavedSearches).toMatchObject([
      { where: 'SeverityText:"ERROR" (ServiceName:"checkout" OR ServiceName:"payments")', id: errors.savedSearch },
    ]);
    expect(errors).toMatchObject({ groupBy: 'ServiceName', interval: '5m', thresholdType: 'above' });
  });

  it('fires for payments in the incident of each hour, and never outside the incidents', () => {
    const firing = listFiringWindows();
    const hours = new Set((firing.get('payments') ?? []).map(fullHour));
    expect(hours.size).toBe(HOURS);
    const isInIncident = (startMs: number) =>
      [0, 1, 2, 3, 4].some((minute) => severityAt(startMs + (minute + 0.5) * MINUTE_MS) > 0);
    expect([...firing.values()].flat().filter((startMs) => !isInIncident(startMs))).toEqual([]);
  });
});
