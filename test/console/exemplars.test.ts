import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { RANGE, T0 } from '../support/board.ts';
import { expectAccessible, inBrowser } from '../support/browser.ts';
import { fillEngine } from '../support/engine.ts';
import { acme, fleet } from '../support/fleet.ts';

const MINUTE = 60_000;
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const [organization, ...others] = fleet.organizations;

const dashboard = {
  id: 'latency',
  name: 'Latency',
  tags: [],
  tiles: [
    {
      id: 'time',
      name: 'Latency over time',
      ...{ x: 0, y: 0, w: 24, h: 8 },
      series: [
        { type: 'time', sourceId: 'metrics', aggFn: 'max', metricName: 'latency', metricDataType: 'gauge', where: '' },
      ],
    },
  ],
};

const point = (minute: number, more: object = {}) => ({
  OrganizationId: acme.id,
  MetricName: 'latency',
  ServiceName: 'api',
  TimeUnix: new Date(T0 + minute * MINUTE).toISOString(),
  Value: 100 + minute,
  ...more,
});

inBrowser(
  'exemplars',
  (browser) => {
    beforeAll(async () => {
      const exemplar = {
        'Exemplars.TimeUnix': [new Date(T0 + 10 * MINUTE).toISOString()],
        'Exemplars.Value': [110],
        'Exemplars.TraceId': [TRACE],
        'Exemplars.SpanId': [SPAN],
        'Exemplars.FilteredAttributes': [{}],
      };
      const points = Array.from({ length: 30 }, (_, minute) => point(minute, minute === 10 ? exemplar : {}));
      await fillEngine(join(browser.server.directory, 'data'), { otel_metrics_gauge: points });
    });

    it('are marks on a time chart of a metric, which lead to their trace', async () => {
      const page = await browser.signIn(acme.admin, `/dashboards/latency?${RANGE}`);
      const mark = page.getByTestId('exemplar');
      await mark.waitFor();
      expect(await mark.count()).toBe(1);
      expect(await mark.getAttribute('aria-label')).toMatch(/^Trace of latency 110 of api, /);
      await mark.hover();
      await page.getByRole('tooltip').filter({ hasText: 'latency 110 of api' }).waitFor();
      // At its time and its value: a third of the range, and on the line.
      const [plot, box] = [await page.locator('.u-over').boundingBox(), await mark.boundingBox()];
      if (!plot || !box) throw new Error('the chart is not visible');
      expect(Math.abs(box.x + box.width / 2 - (plot.x + plot.width / 3))).toBeLessThan(1.5);
      expect(box.y).toBeGreaterThan(plot.y);
      expect(box.y + box.height).toBeLessThan(plot.y + plot.height);
      await expectAccessible(page);
      await mark.click();
      await page.waitForURL(
        (url) => url.pathname.endsWith(`/traces/${TRACE}`) && url.searchParams.get('span') === SPAN,
      );
    });
  },
  { fleet: { ...fleet, organizations: [{ ...organization, dashboards: [dashboard] }, ...others] } },
);
