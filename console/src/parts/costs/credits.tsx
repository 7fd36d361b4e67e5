import { formatCredits, formatExactCredits } from '../format/format.ts';

/** An amount in CHC: rounded with the exact value as tooltip, or exact. */
export function Credits({ chc, exact = false, unit = true }: { chc: number; exact?: boolean; unit?: boolean }) {
  return (
    <span className="ph-number ph-fixed" title={exact ? undefined : `${formatExactCredits(chc)} CHC`}>
      {exact ? formatExactCredits(chc) : formatCredits(chc)}
      {unit && ' CHC'}
    </span>
  );
}
