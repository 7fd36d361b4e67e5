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

/** Compute is metered per minute, bytes per hour. */
export const demoMeters = ({ analytics, reader, sandbox, warehouse: main, sandboxWarehouse }: Ids): DemoMeter[] => [
  { ...service(analytics, 'compute', 6, 1), hasSpikes: true },
  service(reader, 'compute', 1, 1),
  service(sandbox, 'compute', 0.3, 1),
  service(analytics, 'publicDataTransfer', 0.5 * GB),
  service(analytics, 'interRegionTier1DataTransfer', 0.33 * GB),
  service(reader, 'publicDataTransfer', 0.17 * GB),
  warehouse(main, 'storage', 1.9 * TB),
  warehouse(main, 'backup', TB),
  warehouse(sandboxWarehouse, 'storage', 0.05 * TB),
  warehouse(sandboxWarehouse, 'backup', 0.025 * TB),
];
