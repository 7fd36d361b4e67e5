import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { cli } from '../support/cli.ts';

const execute = promisify(execFile);

const print = async (shell: string): Promise<string> => {
  const { code, stdout, stderr } = await cli(['completion', shell]);
  expect(code, stderr).toBe(0);
  return stdout;
};

describe('completion bash', () => {
  let script = '';
  beforeAll(async () => {
    script = await print('bash');
  });

  /** What bash offers for a command line; the last word is the one that is typed. */
  async function complete(...words: string[]): Promise<string[]> {
    const program = `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pilothouse; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await execute('bash', [
      '--norc',
      '-euo',
      'pipefail',
      '-c',
      program,
      'bash',
      'pilothouse',
      ...words,
    ]);
    return stdout.split('\n').filter(Boolean);
  }

  it('offers commands, the commands of a group, and options', async () => {
    expect(await complete('de')).toEqual(['demo']);
    expect(await complete('')).toEqual(expect.arrayContaining(['serve', 'key', 'completion', '--version']));
    expect(await complete('')).not.toContain('reference');
    expect(await complete('key', '')).toEqual(['list', 'create', 'disable', 'rotate', 'delete']);
    expect(await complete('key', 'rotate', '--g')).toEqual(['--grace']);
    expect(await complete('serve', '--database-u')).toEqual(['--database-url', '--database-url-file']);
  });

  it('offers the values of an option, and leaves other values to the completion of files', async () => {
    expect(await complete('serve', '--telemetry', '')).toEqual(['on', 'off']);
    expect(await complete('serve', '--fleet', '')).toEqual([]);
    expect(await complete('serve', '--telemetry', 'off', '--fl')).toEqual(['--fleet']);
  });

  it('knows every command and option of the help', async () => {
    const listNames = (text: string, pattern: RegExp) =>
      [...text.matchAll(pattern)].map(([, name = '']) => name).sort();
    const top = listNames((await cli(['--help'])).stdout, /^ {2}([a-z][a-z-]*)\b.* {2}/gm);
    expect((await complete('')).filter((word) => !word.startsWith('-')).sort()).toEqual(top);
    for (const command of [['serve'], ['key', 'create'], ['usage', 'import'], ['apply']]) {
      const options = listNames((await cli([...command, '--help'])).stdout, /^ {2}(?:-h, )?(--[a-z0-9-]+)/gm);
      expect((await complete(...command, '--')).sort(), command.join(' ')).toEqual(options);
    }
  });
});

describe('completion for other shells', () => {
  it.each([
    ['zsh', "'key create') entries=(", "'--grace:"],
    ['fish', `'__pilothouse_at "key"' -f -a create`, '-l grace -r'],
  ])('%s: prints a script with commands and options', async (shell, command, option) => {
    const script = await print(shell);
    expect(script).toContain(command);
    expect(script).toContain(option);
  });

  it('rejects an unknown shell', async () => {
    expect(await cli(['completion', 'csh'])).toMatchObject({
      code: 2,
      stderr: 'error: <shell> must be one of bash, zsh, fish, not "csh"\n',
    });
  });
});

describe('pilothouse without a command', () => {
  it('prints help that says how to try it', async () => {
    const { code, stdout } = await cli([]);
    expect(code).toBe(0);
    expect(stdout).toContain('To try it: pilothouse demo\n');
  });
});
