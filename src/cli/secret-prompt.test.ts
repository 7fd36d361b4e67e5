import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { promptSecret } from './secret-prompt.ts';

/** A stream with the two members of a terminal. */
function createTerminal() {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), {
    isTTY: true as const,
    setRawMode(isRaw: boolean) {
      modes.push(isRaw);
      return input;
    },
  });
  const shown: string[] = [];
  let interrupts = 0;
  const terminal = { input, write: (text: string) => void shown.push(text), interrupt: () => void interrupts++ };
  return { terminal: terminal as never, input, modes, shown, listInterrupts: () => interrupts };
}

it('returns what was typed without showing it, with backspace, and leaves raw mode', async () => {
  const { terminal, input, modes, shown } = createTerminal();
  const secret = promptSecret(terminal, 'Password: ');
  input.write('hunterx');
  input.write('\u007f2é');
  input.write('\rignored');
  expect(await secret).toBe('hunter2é');
  expect(shown).toEqual(['Password: ', '\n']);
  expect(modes).toEqual([true, false]);
});

it.each([
  ['nothing', '\r', 0],
  ['Control-D', '\u0004', 0],
  ['Control-C', 'secret\u0003', 1],
])('returns nothing after %s', async (_, typed, interrupts) => {
  const { terminal, input, modes, listInterrupts } = createTerminal();
  const secret = promptSecret(terminal, 'Password: ');
  input.write(typed);
  expect(await secret).toBeUndefined();
  expect([modes.at(-1), listInterrupts()]).toEqual([false, interrupts]);
});

it('asks nothing without a terminal', async () => {
  const { terminal, input, shown } = createTerminal();
  Object.assign(input, { isTTY: false });
  expect(await promptSecret(terminal, 'Password: ')).toBeUndefined();
  expect(shown).toEqual([]);
});
