import type { DemoMeter } from './usage/generator.ts';

const GB = 1e9;
const TB = 1e12;

const service = (entityId: string, meter: DemoMeter['meter'], quantity: number, everyMinutes = 60): DemoMeter => ({
  entityType: 'service',
  entityId,
  meter,
  everyMinutes,
  quantity,
  shape: 'used',
});
const warehouse = (entityId: string, meter: 'storage' | 'backup', bytes: number): DemoMeter => ({
  entityType: 'datawarehouse',
  entityId,
  meter,
  everyMinutes: 60,
  quantity: bytes,
  shape: 'stored',
});

type Ids = Record<'analytics' | 'reader' | 'sandbox' | 'warehouse' | 'sandboxWarehouse', string>;

/**
 * Compute is metered per minute, bytes per hour. The services that run are metered themselves from the first start of the
 * demo on; before, in epoch milliseconds, their usage is invented.
 */
export function demoMeters(ids: Ids, startedAt: number): DemoMeter[] {
  const { analytics, reader, sandbox, warehouse: main, sandboxWarehouse } = ids;
  const invented = [
    { ...service(analytics, 'compute', 6, 1), hasSpikes: true },
    service(sandbox, 'compute', 0.3, 1),
    service(analytics, 'publicDataTransfer', 0.5 * GB),
    service(analytics, 'interRegionTier1DataTransfer', 0.33 * GB),
    warehouse(main, 'storage', 1.9 * TB),
    warehouse(main, 'backup', TB),
    warehouse(sandboxWarehouse, 'storage', 0.05 * TB),
    warehouse(sandboxWarehouse, 'backup', 0.025 * TB),
  ];
  return [
    ...invented.map((meter) => ({ ...meter, untilMs: startedAt })),
    service(reader, 'compute', 1, 1),
    service(reader, 'publicDataTransfer', 0.17 * GB),
  ];
}
