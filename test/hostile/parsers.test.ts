import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { OTHER_PARSERS } from './other-parsers.ts';
import { PARSERS, type Parser, UNITS } from './parsers.ts';

const SOURCE = join(import.meta.dirname, '../../src');
/** Of processor time, on a machine that does the work of `measureFloor` in `FLOOR_MS`. */
const MAX_MS = 50;
const FLOOR_MS = 40;
/** Of other work of the process, such as collecting garbage, while it is measured. */
const HEADROOM = 2;
/** Twice the text may take this much longer. Four times as long is quadratic. */
const MAX_RATIO = 3;
/** Shorter measurements differ too much to compare them. */
const MIN_COMPARED_MS = 5;
const MAX_ROUNDS = 8;
/** Thousands of texts are parsed, beside other processes. */
const LIMIT_MS = 300_000;

/** Processor time of this process, in milliseconds: other processes do not count. */
function measure(run: () => unknown): number {
  const start = process.cpuUsage();
  try {
    run();
  } catch {
    // A rejected text.
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function measureFloor(): number {
  const text = JSON.stringify(Array.from({ length: 50_000 }, (_, index) => ({ name: `name ${index}` })));
  return Math.min(...Array.from({ length: 5 }, () => measure(() => JSON.parse(text))));
}

const repeat = (unit: string, [start, end]: readonly [string, string], characters: number): string =>
  start + unit.repeat(Math.max(1, Math.floor((characters - start.length - end.length) / unit.length))) + end;

/** The shortest times of a text and of half of it. Measured again as long as they are over the limits. */
function findSlowness(
  { parse, limit }: Parser,
  text: (characters: number) => string,
  maxMs: number,
): string | undefined {
  const [whole, half] = [text(limit), text(Math.floor(limit / 2))];
  let [wholeMs, halfMs] = [measure(() => parse(whole)), Number.POSITIVE_INFINITY];
  if (wholeMs < MIN_COMPARED_MS) return undefined;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    halfMs = Math.min(
      halfMs,
      measure(() => parse(half)),
    );
    wholeMs = Math.min(
      wholeMs,
      measure(() => parse(whole)),
    );
    const isLinear = wholeMs < MIN_COMPARED_MS || wholeMs < MAX_RATIO * halfMs;
    if (round > 0 && isLinear && wholeMs < maxMs) return undefined;
  }
  return `${JSON.stringify(whole.slice(0, 40))}: ${halfMs.toFixed(1)} ms for half, ${wholeMs.toFixed(1)} ms for all`;
}

const floor = measureFloor();

it.each(Object.entries(PARSERS))(
  '%s takes time in proportion to the text, and little',
  (_, parser) => {
    const { around = [], units = [], slow: [times] = [1] } = parser;
    const maxMs = MAX_MS * HEADROOM * times * Math.max(1, floor / FLOOR_MS);
    const slow = [['', ''] as const, ...around].flatMap((ends) =>
      [...UNITS, ...units].flatMap((unit) => findSlowness(parser, (count) => repeat(unit, ends, count), maxMs) ?? []),
    );
    expect(slow).toEqual([]);
  },
  LIMIT_MS,
);

it('finds a parser that takes quadratic time', () => {
  const parse = (text: string) => /x\s+$/.test(text.replaceAll('a', 'x ')) || /\s+x$/.test(text);
  expect(findSlowness({ limit: 16_384, parse }, (count) => ' '.repeat(count), 1e6)).toContain('ms for all');
});

it('has every exported parser of text in the table, or the reason why it takes no text of users', () => {
  const names = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.startsWith('cli'))
    .flatMap((path) =>
      [...readFileSync(join(SOURCE, path), 'utf8').matchAll(EXPORTED)].map(([, name]) => `${path}#${name}`),
    );
  const known = [...Object.keys(PARSERS), ...OTHER_PARSERS];
  expect(names.filter((name) => !known.includes(name))).toEqual([]);
  for (const name of known) {
    const [path = '', exported = ''] = name.split('#');
    expect(readFileSync(join(SOURCE, path), 'utf8'), name).toMatch(new RegExp(`export .*\\b${exported}\\b`));
  }
});

const EXPORTED = /^export (?:async )?(?:function\*? |const )((?:parse|split|tokenize|decode)[A-Z]?\w*)\b/gm;
