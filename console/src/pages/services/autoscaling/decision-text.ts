import type { AutoscalingDecision } from '../../../api/generated.ts';
import { formatMemory, formatNumber } from '../../../parts/format/format.ts';

type Size = AutoscalingDecision['from'];

/** "16 GB × 3". */
const formatDecidedSize = ({ memoryGb, replicas }: Size): string =>
  `${formatMemory(memoryGb)} × ${formatNumber(replicas)}`;

const ACTIONS: Record<AutoscalingDecision['action'], string> = {
  none: 'Keep',
  up: 'Scale up',
  down: 'Scale down',
  out: 'Add replicas',
  in: 'Remove replicas',
};

/** "Scale up from 16 GB × 3 to 24 GB × 3". */
export const formatDecision = ({ action, from, to }: Pick<AutoscalingDecision, 'action' | 'from' | 'to'>): string =>
  action === 'none'
    ? `Keep ${formatDecidedSize(from)}`
    : `${ACTIONS[action]} from ${formatDecidedSize(from)} to ${formatDecidedSize(to)}`;
