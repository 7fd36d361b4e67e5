import { createFailedSignIns } from '../console/failed-sign-ins.ts';
import type { Sessions } from '../console/sessions.ts';
import { createExportLog } from '../management/audit/export-log.ts';
import { createHourlyCounts } from '../management/audit/hourly-counts.ts';
import { type RotationStage, rotateKeys } from '../platform/state/secrets/rotation.ts';

type Options = Parameters<typeof createHourlyCounts>[0] & { sessions: Pick<Sessions, 'findCredential'> };

/** What the audit log has about access, apart from changes, and the key of the stored secrets. */
export const createSecurity = ({ sessions: { findCredential }, ...options }: Options) => ({
  failedSignIns: createFailedSignIns({ ...options, findCredential }),
  hourlyCounts: createHourlyCounts(options),
  exportLog: createExportLog(options),
  rotateSecrets: (stage: RotationStage) => rotateKeys(options.state, stage, options.clock),
});
