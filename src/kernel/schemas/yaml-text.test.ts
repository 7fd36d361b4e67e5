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
