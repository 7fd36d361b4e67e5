import { expect, it } from 'vitest';
import { toNumbers } from '../../console/src/pages/dashboards/time-values.ts';

it.each([
  [false, [1, null, 2, null]],
  [true, [1, 0, 2, 0]],
])('with fillNulls %s, intervals without a number', (fillNulls, expected) => {
  expect(toNumbers([1, null, '2', 'text'], fillNulls)).toEqual(expected);
});
