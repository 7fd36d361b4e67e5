import type { State } from '../../platform/state/state.ts';
import type { Organizations } from '../organizations/organizations.ts';
import type { Actor } from './activity.ts';
import type { Audit } from './audit.ts';

interface Options {
  state: State;
  audit: Audit;
  organizations: Pick<Organizations, 'lock'>;
}

/** Data that leaves the server as a file. SQL has its own activity. */
const EXPORTED = ['rows of a search', 'usage cost'] as const;

interface DataExport {
  organizationId: string;
  exported: (typeof EXPORTED)[number];
  /** The id of what it is from: a source, or the organization. */
  id: string;
  /** What was asked for, without secrets. */
  details: Record<string, string | number | undefined>;
}

export type ExportLog = ReturnType<typeof createExportLog>;

/** Records exports in the audit log before the first byte is sent: no export is without its activity. */
export function createExportLog({ state, audit, organizations }: Options) {
  return {
    record: (actor: Actor, { organizationId, exported, id, details }: DataExport): Promise<void> =>
      state.write(async (tx) => {
        await organizations.lock(tx, organizationId);
        await audit.record(tx, actor, {
          organizationId,
          type: 'data_export',
          resource: { type: 'export', id },
          after: { name: exported, ...details },
        });
      }),
  };
}
