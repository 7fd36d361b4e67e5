import { SETTINGS, type Setting } from '../server/settings/settings.ts';
import { type Command, defineCommand, formatFileFlag, listSettings } from './command.ts';
import { type CompletionTable, type CompletionWord, renderBash, renderFish, renderZsh } from './completion-scripts.ts';
import { argument, formatFlag, oneOf } from './parameters.ts';

const RENDERERS = { bash: renderBash, zsh: renderZsh, fish: renderFish };
const SHELLS = Object.keys(RENDERERS) as (keyof typeof RENDERERS)[];

/** `listCommands` is a function because this command is one of them. `groups` describes groups such as `key`. */
export const defineCompletion = (groups: Record<string, string>, listCommands: () => readonly Command[]): Command =>
  defineCommand({
    name: 'completion',
    summary: 'Print a script that completes commands and options in a shell',
    arguments: { shell: argument('<shell>', `The shell: ${SHELLS.join(', ')}`, oneOf(SHELLS)) },
    async run({ arguments: { shell } }) {
      const commands = listCommands().filter(({ isHidden }) => !isHidden);
      return { lines: [RENDERERS[shell](createTable(groups, commands))] };
    },
  });

const HELP: CompletionWord = { word: '--help', help: 'Print help' };

function createTable(groups: Record<string, string>, commands: readonly Command[]): CompletionTable {
  const table = new Map<string, CompletionWord[]>([['', []]]);
  for (const command of commands) {
    const [name = '', verb] = command.name.split(' ');
    const parent = verb === undefined ? '' : name;
    if (verb !== undefined && !table.has(name)) {
      table.set(name, []);
      table.get('')?.push({ word: name, help: groups[name] ?? '' });
    }
    table.get(parent)?.push({ word: verb ?? name, help: command.summary });
    table.set(command.name, listOptions(command));
  }
  table.get('')?.push({ word: 'help', help: 'Print help for a command' }, HELP, {
    word: '--version',
    help: 'Print the version',
  });
  return table;
}

function listOptions(command: Command): CompletionWord[] {
  const { options = {} } = command;
  const own = Object.entries(options).map(([key, { syntax, help }]) => ({ word: formatFlag(key), help, syntax }));
  const shared = listSettings(command).flatMap((setting) => {
    const { flag, argument: syntax, help, isSecret }: Setting = SETTINGS[setting];
    const file = { word: formatFileFlag(flag), help: `File that contains ${flag}`, syntax: '<file>' };
    return [{ word: flag, help, syntax }, ...(isSecret ? [file] : [])];
  });
  return [
    ...[...own, ...shared].map(({ word, help, syntax }) => {
      const [, choices] = /^<([a-z]+(?:\|[a-z]+)+)>$/.exec(syntax) ?? [];
      return { word, help, hasValue: syntax !== '', ...(choices ? { values: choices.split('|') } : {}) };
    }),
    HELP,
  ];
}
