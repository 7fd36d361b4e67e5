import { expect, it } from 'vitest';
import { escapeControls } from '../text.ts';
import { formatYaml, parseYamlOrJson } from './yaml-text.ts';

it('YAML that was escaped for a terminal keeps its meaning', () => {
  for (const character of ['\u001b', '\u007f', '\u009b', '\r', '\t', '\n', '\u2028', '\u2029', '\u202e', '\u2066']) {
    const value = { [`name${character}`]: `a${character}b`, list: [`${character}`, `${character} # "quoted" \\u2028`] };
    const text = escapeControls(formatYaml(value));
    expect(text).not.toMatch(/(?![\t\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
    expect(parseYamlOrJson(text, 'The text')).toEqual(value);
  }
});

it.each([
  ['a: 1\nb:\n  c: 1\n  c: 2\n', 'line 4, column 3: Map keys must be unique'],
  ['a: 1\nb: ]\n', 'line 2, column 4: '],
  ['[1, 2', 'line 1, column 6: '],
  [`${'['.repeat(200)}`, 'It is nested more than 100 levels deep'],
  [`${'- '.repeat(2000)}a`, 'It is nested more than 100 levels deep'],
  [Array.from({ length: 150 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join(''), 'nested more than 100 levels deep'],
  ['a: "secret', 'line 1, column 11: '],
])('%j is rejected with its position', (text, reason) => {
  expect(() => parseYamlOrJson(text, 'It')).toThrow(reason);
  expect(() => parseYamlOrJson(text, 'It')).not.toThrow('secret');
});

it('reads values that are nested deeply enough for any file', () => {
  const text = `${Array.from({ length: 40 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join('')}${' '.repeat(40)}- [b, {c: d}]\n`;
  expect(JSON.stringify(parseYamlOrJson(text, 'It'))).toContain('[["b",{"c":"d"}]]');
});
