import { listMigrations } from '../../../src/kernel/migration.ts';
import { systemClock } from '../../../src/kernel/time/clock.ts';
import { openBackend } from '../../../src/platform/engine/open.ts';
import { applyMigrations } from '../../../src/platform/engine/tables/migrate.ts';
import { acme } from '../../support/fleet.ts';

/** The schema of the version that wrote the rows. */
const LAST_OLD_VERSION = 3;

/** Part of a log record that the old version received. */
export const OLD_LOG = 'beforetheupgrade';

/** The embedded engine as the old version left it. */
export async function createOldEngine(dataDirectory: string): Promise<void> {
  const backend = openBackend({ dataDirectory, clock: systemClock, log: { debug() {}, info() {}, warn() {} } });
  try {
    const { writer } = await backend.connect();
    const old = listMigrations('engine').filter(({ version }) => version <= LAST_OLD_VERSION);
    await applyMigrations({ writer }, old, AbortSignal.timeout(60_000));
    const values = [
      { OrganizationId: acme.id, Timestamp: '2026-11-02 10:00:30.123456789', Body: `${OLD_LOG} of a checkout` },
    ];
    await writer.insert({ table: 'pilothouse.otel_logs', values, format: 'JSONEachRow' });
  } finally {
    await backend.close();
  }
}
