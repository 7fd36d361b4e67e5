import { expect, it } from 'vitest';
import { chooseNumberColor } from '../../console/src/pages/dashboards/tiles/number-color.ts';
import { PALETTES } from '../../console/src/parts/costs/colors.ts';

const red = PALETTES.light[1];
const green = PALETTES.light[2];

it('a number has the color of its config, in the palette of the theme', () => {
  expect(chooseNumberColor({ color: 'chart-red' }, 1, false)).toBe(red);
  expect(chooseNumberColor({ color: 'chart-red' }, 1, true)).toBe(PALETTES.dark[1]);
  for (const color of [undefined, 'red', 'constructor', '#123456'])
    expect(chooseNumberColor({ color }, 1, false)).toBeUndefined();
  expect(chooseNumberColor(undefined, 1, false)).toBeUndefined();
});

it.each([
  ['gt', 5, [6], [5, 4]],
  ['gte', 5, [5, '18446744073709551615'], [4]],
  ['lt', 5, [4], [5]],
  ['lte', 5, [5], [6]],
  ['between', [1, 3], [1, 2, 3], [0, 4]],
  ['eq', 5, [5, '5'], [4, 'five']],
  ['eq', 'ok', ['ok'], ['OK', 1]],
  ['neq', 5, [4, 'ok'], [5]],
  // A rule of another form matches nothing.
  ['between', 5, [], [5]],
  ['gt', '5', [], [6]],
  ['like', 5, [], [5]],
])('the rule %s %j', (operator, value, matching, others) => {
  const rules = { color: 'chart-red', colorRules: [{ operator, value, color: 'chart-green' }] };
  for (const one of matching) expect(chooseNumberColor(rules, one, false), String(one)).toBe(green);
  for (const one of [...others, null]) expect(chooseNumberColor(rules, one, false), String(one)).toBe(red);
});

it('the last rule that matches wins', () => {
  const rules = ['chart-green', 'chart-red'].map((color) => ({ operator: 'gt', value: 1, color }));
  expect(chooseNumberColor({ colorRules: rules }, 2, false)).toBe(red);
});
