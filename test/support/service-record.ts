import { defaultScaling, type Service } from '../../src/management/services/service.ts';

/** A service as it is stored, with ids of its number and a warehouse of its own. */
export const createServiceRecord = (number: number, members: Partial<Service> = {}): Service => ({
  id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  organizationId: '7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d',
  name: `service-${number}`,
  kind: 'production',
  driver: 'simulated',
  desiredState: 'running',
  generation: 1,
  settledGeneration: 1,
  dataWarehouseId: `10000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  isPrimary: true,
  scaling: defaultScaling({ tier: 'SCALE' }, 'production'),
  createdAt: Date.parse('2026-11-01T00:00:00Z') + number,
  details: {},
  observed: { state: 'running' } as Service['observed'],
  ...members,
});
