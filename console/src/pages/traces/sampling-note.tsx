import { formatNumber } from '../../parts/format/format.ts';
import { Note } from '../../parts/layout/note.tsx';
import type { Sampling } from './queries.ts';

/** Says that figures are estimates. */
export function SamplingNote({ sampling: { sampled, oneIn, totalSpans } }: { sampling: Sampling }) {
  if (!sampled) return null;
  return (
    <Note tone="warn" title="Estimated from a sample">
      The range has {formatNumber(totalSpans)} spans, so one in {formatNumber(oneIn)} traces was read. Numbers and sums
      are multiplied by {formatNumber(oneIn)}; percentiles are those of the sample.
    </Note>
  );
}
