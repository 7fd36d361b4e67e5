import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../kernel/errors.ts';
import { getOnlyRow, parseRows, readText } from './result.ts';

/** As ClickHouse sends it. */
const RESULT = `{
	"meta":
	[
		{
			"name": "count()",
			"type": "UInt64"
		}
	],

	"data":
	[
		["41"],
		["42"]
	],

	"rows": 2,

	"statistics":
	{
		"elapsed": 0.000738,
		"rows_read": 1,
		"bytes_read": 16
	}
}
`;

function findFailure(work: () => unknown): AppError {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  expect.fail('the result was accepted');
}

function expectIncomplete(work: () => unknown): void {
  const { code, message, retryAfterSeconds } = findFailure(work);
  expect([code, message, retryAfterSeconds]).toEqual(['unavailable', 'The engine sent an incomplete result', 5]);
}

describe('a result', () => {
  it('is complete with its last brace', () => {
    expect(parseRows(RESULT)).toEqual([[41], [42]]);
    expect(parseRows(RESULT.trimEnd())).toEqual([[41], [42]]);
  });

  it('that is empty, or cut anywhere, is a failure of the engine', () => {
    const { length } = RESULT.trimEnd();
    for (let end = 0; end < length; end++) expectIncomplete(() => parseRows(RESULT.slice(0, end)));
    for (let start = 1; start < length; start++) expectIncomplete(() => parseRows(RESULT.slice(start)));
  });

  it.each([
    ['fewer rows than it says', RESULT.replace('["41"],', '')],
    ['no number of rows', RESULT.replace('"rows": 2,', '')],
    ['no columns', RESULT.replace('"meta"', '"other"')],
    ['another value', 'null'],
    ['an exception after its rows', RESULT.replace('"rows": 2,', '"rows": 2, "exception": "Code: 243",')],
    ['an exception beside it', `${RESULT}Code: 243. DB::Exception: Cannot reserve 1.00 MiB`],
  ])('with %s is a failure of the engine', (_, text) => expectIncomplete(() => parseRows(text)));

  it('of a statement that always has one row has one', () => {
    expect(getOnlyRow([[7]])).toEqual([7]);
    expectIncomplete(() => getOnlyRow([]));
    expectIncomplete(() => getOnlyRow([[1], [2]]));
  });

  it('whose connection ends early is not read', async () => {
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from(RESULT);
        throw new Error('premature close');
      })(),
    );
    await expect(readText(broken, 10_000)).rejects.toThrow('premature close');
  });
});
