import classes from './dashboard.module.css';
import { hasEqualQuery, isEqual } from './equality.ts';
import type { Dashboard, Tile } from './queries.ts';

type Compared = Omit<Dashboard, 'id'>;

const MAX_SHOWN = 12;

/** A list of the changes from one version to another. */
export function Differences({ from, to }: { from: Compared; to: Compared }) {
  const differences = listDifferences(from, to);
  return (
    <ul className={classes.differences}>
      {differences.slice(0, MAX_SHOWN).map((difference) => (
        <li key={difference}>{difference}</li>
      ))}
      {differences.length === 0 && <li>No differences</li>}
      {differences.length > MAX_SHOWN && <li>and {differences.length - MAX_SHOWN} more</li>}
    </ul>
  );
}

function listDifferences(one: Compared, other: Compared): string[] {
  const before = new Map(one.tiles.map((tile) => [tile.id, tile]));
  const after = new Set(other.tiles.map(({ id }) => id));
  return [
    ...(one.name === other.name ? [] : [`Name changed to “${other.name}”`]),
    ...(isEqual(one.tags.toSorted(), other.tags.toSorted())
      ? []
      : [other.tags.length === 0 ? 'Tags removed' : `Tags changed to ${other.tags.join(', ')}`]),
    ...(isEqual(pickFilters(one), pickFilters(other)) ? [] : ['Filters changed']),
    ...other.tiles.filter(({ id }) => !before.has(id)).map((tile) => `${quoteName(tile)} added`),
    ...one.tiles.filter(({ id }) => !after.has(id)).map((tile) => `${quoteName(tile)} removed`),
    ...other.tiles.flatMap((tile) => tileDifferences(before.get(tile.id) ?? tile, tile)),
  ];
}

const pickFilters = ({ filters = [], savedFilterValues = [], savedQuery, savedQueryLanguage }: Compared) => [
  filters,
  savedFilterValues,
  savedQuery ? [savedQuery, savedQueryLanguage] : [],
];

function tileDifferences(one: Tile, other: Tile): string[] {
  const found = [
    ...(one.name === other.name ? [] : [`renamed to ${quoteName(other)}`]),
    ...(isEqual([one.x, one.y], [other.x, other.y]) ? [] : ['moved']),
    ...(isEqual([one.w, one.h], [other.w, other.h]) ? [] : ['resized']),
    ...(hasEqualQuery(one, other) ? [] : ['query changed']),
    ...((one.ignoresFilters ?? false) === (other.ignoresFilters ?? false)
      ? []
      : [other.ignoresFilters ? 'ignores filters' : 'applies filters']),
  ];
  return found.length === 0 ? [] : [`${quoteName(one)} ${found.join(', ')}`];
}

const quoteName = ({ name, id }: Tile): string => `“${name || id}”`;
