// Reads the Dockerfile: its stages with their instructions, in order.
import { readFileSync } from 'node:fs';

/** `{ name, base, instructions: [{ keyword, text }] }` for each stage. */
export function readStages(path = 'Dockerfile') {
  const stages = [];
  for (const { keyword, text } of listInstructions(readFileSync(path, 'utf8'))) {
    if (keyword === 'FROM') {
      const [base, , name = 'final'] = text.split(/\s+/);
      stages.push({ name, base, instructions: [] });
    } else if (stages.length > 0) stages.at(-1).instructions.push({ keyword, text });
  }
  return stages;
}

function listInstructions(source) {
  const lines = source.split('\n').filter((line) => !/^\s*(#|$)/.test(line));
  return lines
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => {
      const [, keyword = '', text = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
      return { keyword: keyword.toUpperCase(), text };
    });
}

/** The variables that the ENV instructions of a stage set. Values contain no spaces. */
export function readVariables({ instructions }) {
  const pairs = instructions.filter(({ keyword }) => keyword === 'ENV').flatMap(({ text }) => text.split(/\s+/));
  return Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/).slice(0, 2)));
}

/** The last instruction of a kind that is a list of words, such as CMD ["serve"]. */
export function readWords({ instructions }, keyword) {
  const text = instructions.findLast((found) => found.keyword === keyword)?.text ?? '[]';
  return JSON.parse(text.slice(text.indexOf('[')));
}
