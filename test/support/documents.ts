import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** A fenced block of a document. */
export interface Block {
  /** `docs/billing.md:10`. */
  place: string;
  language: string;
  text: string;
}

/** README.md and the files in docs/. */
export const listDocuments = (): string[] => [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

export const readDocument = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The fenced blocks of a document, in order. */
export function listBlocks(path: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const [index, line] of readDocument(path).split('\n').entries()) {
    const fence = /^```(\w*)/.exec(line);
    if (!fence) {
      if (open) open.text += `${line}\n`;
    } else if (open) {
      blocks.push(open);
      open = undefined;
    } else {
      open = { place: `${path}:${index + 1}`, language: fence[1] ?? '', text: '' };
    }
  }
  return blocks;
}

/** The `pilothouse …` commands in inline code, without repetitions. */
export function listInlineCommands(path: string): string[] {
  const prose = readDocument(path).replaceAll(/^```[\s\S]*?^```/gm, '');
  return [
    ...new Set([...prose.matchAll(/`(pilothouse [^`]+)`/g)].map(([, command = '']) => command.replaceAll('\n', ' '))),
  ];
}
