import { TABLES } from '../../../observability/own-telemetry/rows.ts';
import type { Engine } from '../../../platform/engine/engine.ts';
import { OWN_DATABASE } from '../../../platform/engine/engine.ts';

interface Gauge {
  organizationId: string;
  serviceName: string;
  metricName: string;
}

/** Lists the times, in epoch milliseconds, at which a gauge of a service has a value. */
export async function listGaugeTimes(
  engine: Pick<Engine, 'query'>,
  { organizationId, serviceName, metricName }: Gauge,
  fromMs: number,
  toMs: number,
): Promise<number[]> {
  const rows = await engine.query({
    sql: `
      SELECT DISTINCT toUnixTimestamp64Milli(TimeUnix)
      FROM ${OWN_DATABASE}.${TABLES.gauge}
      WHERE OrganizationId = {organizationId:String} AND MetricName = {metricName:String} AND ServiceName = {serviceName:String}
        AND TimeUnix >= fromUnixTimestamp64Milli({fromMs:Int64}) AND TimeUnix < fromUnixTimestamp64Milli({toMs:Int64})`,
    parameters: { organizationId, metricName, serviceName, fromMs, toMs },
  });
  return rows.map(([ms]) => Number(ms));
}
