import { formatCredits, formatExactCredits } from './format.ts';

/** An amount. Rounded for reading with every decimal on hover, or exact where people add up. */
export function Credits({ chc, exact = false, unit = true }: { chc: number; exact?: boolean; unit?: boolean }) {
  return (
    <span className="ph-number ph-fixed" title={exact ? undefined : `${formatExactCredits(chc)} CHC`}>
      {exact ? formatExactCredits(chc) : formatCredits(chc)}
      {unit && ' CHC'}
    </span>
  );
}
