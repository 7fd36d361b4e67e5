/** Longer names are not compared. */
const MAX_CHARACTERS = 64;

/** The most similar known name, ignoring case, within a few edits. */
export function findNearest(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  if (wanted.length > MAX_CHARACTERS) return undefined;
  let best: string | undefined;
  let bestDistance = Math.min(3, Math.floor(wanted.length / 3) + 1);
  for (const candidate of known) {
    const lower = candidate.toLowerCase();
    if (lower === wanted) return candidate;
    if (lower.length > MAX_CHARACTERS || Math.abs(lower.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted, lower);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Insertions, deletions, substitutions and transpositions. */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const changed = (previous[column - 1] ?? 0) + (isSame ? 0 : 1);
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const swapped = isSwapped ? (before[column - 2] ?? 0) + 1 : changed;
      current.push(Math.min(changed, swapped, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    [before, previous] = [previous, current];
  }
  return previous[to.length] ?? 0;
}
