import { useComputedColorScheme } from '@mantine/core';
import { useMemo } from 'react';
import { assignColors } from '../../../parts/costs/colors.ts';
import { formatPercent } from '../../../parts/format/format.ts';
import { ScrollRegion } from '../../../parts/tables/scroll-region.tsx';
import { formatValue, resolveNumberFormat, withUnit } from '../number-format.ts';
import type { Tile } from '../queries.ts';
import { EmptyTile } from './empty-tile.tsx';
import classes from './parts.module.css';
import { type PartsData, toParts } from './parts.ts';
import { Swatch } from './swatch.tsx';
import tileClasses from './tiles.module.css';

const RADIUS = 50;

export function PieTile({ tile, data }: { tile: Tile; data: PartsData }) {
  const isDark = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark';
  const all = useMemo(() => toParts(data), [data]);
  const parts = all.filter(({ value }) => value > 0);
  const total = parts.reduce((sum, { value }) => sum + value, 0);
  const colors = assignColors(
    parts.map(({ label }) => label),
    isDark,
  );
  const format = resolveNumberFormat(tile.series);
  if (parts.length === 0) return <EmptyTile />;
  const slices = cutSlices(parts.map(({ value }) => value / total));
  return (
    <div className={tileClasses.column}>
      <div className={classes.pie}>
        <svg
          className={classes.disc}
          viewBox={`${-RADIUS} ${-RADIUS} ${2 * RADIUS} ${2 * RADIUS}`}
          role="img"
          aria-label={`${tile.name || 'Pie'}: ${parts.length} parts, listed next to it`}
          data-testid="pie"
        >
          {slices.map((path, index) => (
            <path key={parts[index]?.label} d={path} fill={colors[index]} className={classes.slice}>
              <title>{`${parts[index]?.label}: ${formatShare((parts[index]?.value ?? 0) / total)}`}</title>
            </path>
          ))}
        </svg>
        <ScrollRegion className={classes.legend}>
          <table className={classes.rows}>
            <tbody>
              {parts.map(({ label, value, unit }, index) => (
                <tr key={label}>
                  <th scope="row" title={label}>
                    <Swatch color={colors[index] ?? ''} dash={[]} />
                    <span className={classes.label}>{label}</span>
                  </th>
                  <td className="ph-number">{formatValue(value, withUnit(format, unit))}</td>
                  <td className="ph-number">{formatShare(value / total)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      </div>
      {all.length > parts.length && (
        <div className={tileClasses.foot}>Without {all.length - parts.length} that are zero or negative</div>
      )}
    </div>
  );
}

const formatShare = (share: number): string => formatPercent(share * 100);

/** The path of each slice, clockwise from the top. A single slice is a whole disc, which one arc cannot draw. */
function cutSlices(shares: readonly number[]): string[] {
  const point = (turn: number) => {
    const angle = turn * 2 * Math.PI - Math.PI / 2;
    return `${(RADIUS * Math.cos(angle)).toFixed(3)} ${(RADIUS * Math.sin(angle)).toFixed(3)}`;
  };
  let start = 0;
  return shares.map((share) => {
    if (share > 0.9999) return `M 0 ${-RADIUS} A ${RADIUS} ${RADIUS} 0 1 1 -0.01 ${-RADIUS} Z`;
    const end = start + share;
    const path = `M 0 0 L ${point(start)} A ${RADIUS} ${RADIUS} 0 ${share > 0.5 ? 1 : 0} 1 ${point(end)} Z`;
    start = end;
    return path;
  });
}
