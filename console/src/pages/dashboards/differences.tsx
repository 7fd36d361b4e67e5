import classes from './dashboard.module.css';
import { isSame } from './editor/draft.ts';
import type { Dashboard, Tile } from './queries.ts';

type Compared = Omit<Dashboard, 'id'>;

const MOST_SHOWN = 12;

/** In words, what is different in the other one. */
export function Differences({ from, to }: { from: Compared; to: Compared }) {
  const differences = differencesOf(from, to);
  return (
    <ul className={classes.differences}>
      {differences.slice(0, MOST_SHOWN).map((difference) => (
        <li key={difference}>{difference}</li>
      ))}
      {differences.length === 0 && <li>nothing is different</li>}
      {differences.length > MOST_SHOWN && <li>and {differences.length - MOST_SHOWN} more</li>}
    </ul>
  );
}

function differencesOf(one: Compared, other: Compared): string[] {
  const before = new Map(one.tiles.map((tile) => [tile.id, tile]));
  const after = new Set(other.tiles.map(({ id }) => id));
  return [
    ...(one.name === other.name ? [] : [`the name is “${other.name}”`]),
    ...(isSame(one.tags, other.tags) ? [] : [`the tags are ${other.tags.join(', ') || 'gone'}`]),
    ...other.tiles.filter(({ id }) => !before.has(id)).map((tile) => `${nameOf(tile)} is new`),
    ...one.tiles.filter(({ id }) => !after.has(id)).map((tile) => `${nameOf(tile)} is gone`),
    ...other.tiles.flatMap((tile) => tileDifferences(before.get(tile.id) ?? tile, tile)),
  ];
}

function tileDifferences(one: Tile, other: Tile): string[] {
  const found = [
    ...(one.name === other.name ? [] : [`is called ${nameOf(other)}`]),
    ...(isSame([one.x, one.y], [other.x, other.y]) ? [] : ['has another place']),
    ...(isSame([one.w, one.h], [other.w, other.h]) ? [] : ['has another size']),
    ...(isSame([one.series, one.asRatio], [other.series, other.asRatio]) ? [] : ['shows something else']),
  ];
  return found.length === 0 ? [] : [`${nameOf(one)} ${found.join(', ')}`];
}

const nameOf = ({ name, id }: Tile): string => `“${name || id}”`;
