import type { ReadStream } from 'node:tty';

interface Terminal {
  input: Pick<ReadStream, 'isTTY' | 'setRawMode' | 'on' | 'off' | 'resume' | 'pause' | 'setEncoding'>;
  /** Writes to the terminal; standard output is for data. */
  write(text: string): void;
  /** Ends the process as Control-C does. */
  interrupt(): void;
}

const MAX_CHARACTERS = 4096;
/** Control-C, which raw mode passes on as a character. */
const INTERRUPT = '\u0003';
/** Return, line feed, Control-D and Control-C. */
const ENDS = ['\r', '\n', '\u0004', INTERRUPT];
/** Backspace and delete. */
const ERASES = ['\b', '\u007f'];

/** Asks for a line without showing it. Undefined if the input is not a terminal, or if nothing is typed. */
export function promptSecret({ input, write, interrupt }: Terminal, prompt: string): Promise<string | undefined> {
  if (!input.isTTY) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const typed: string[] = [];
    const read = (text: string) => {
      const end = addCharacters(typed, text);
      if (end === undefined) return;
      input.off('data', read);
      input.setRawMode(false);
      input.pause();
      write('\n');
      if (end === INTERRUPT) interrupt();
      resolve(typed.length > 0 && end !== INTERRUPT ? typed.join('') : undefined);
    };
    write(prompt);
    // In raw mode the terminal does not echo.
    input.setRawMode(true);
    input.setEncoding('utf8');
    input.on('data', read);
    input.resume();
  });
}

/** The character that ends the line, if there is one. */
function addCharacters(typed: string[], text: string): string | undefined {
  for (const character of text) {
    if (ENDS.includes(character)) return character;
    if (ERASES.includes(character)) typed.pop();
    else if (character >= ' ' && typed.length < MAX_CHARACTERS) typed.push(character);
  }
  return undefined;
}
