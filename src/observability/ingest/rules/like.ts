import { ExpressionError } from '../../expressions/expression-error.ts';
import { lowerCase, toBytes } from './functions.ts';

/** A pattern of LIKE as a function. `%` matches any bytes. */
export function compileLike(pattern: string, ignoreCase: boolean): (text: string) => boolean {
  const parts = splitPattern(pattern).map((part) => (ignoreCase ? lowerCase(toBytes(part)) : toBytes(part)));
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  return (text) => {
    const searched = ignoreCase ? lowerCase(text) : text;
    if (last === undefined) return searched === first;
    if (!searched.startsWith(first)) return false;
    let at = first.length;
    for (const part of rest) {
      const found = searched.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return searched.length - last.length >= at && searched.endsWith(last);
  };
}

/** The texts between the `%`. A backslash makes the next character a plain one. */
function splitPattern(pattern: string): string[] {
  const parts = [''];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] as string;
    if (character === '%') parts.push('');
    else if (character === '_')
      throw new ExpressionError('A rule cannot use a wildcard for one character; use one for any characters', 0);
    else if (character === '\\' && /[\\%_]/.test(pattern[at + 1] ?? '')) parts.push(`${parts.pop()}${pattern[++at]}`);
    else parts.push(`${parts.pop()}${character}`);
  }
  return parts;
}
