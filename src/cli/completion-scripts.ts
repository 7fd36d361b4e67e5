export interface CompletionWord {
  word: string;
  help: string;
  /** The values of an option such as `<yes|no>`. */
  values?: readonly string[];
  /** An option that is followed by a value. */
  hasValue?: boolean;
}

/** What may follow a command: `''` is the program itself, `key` a group, `key create` a command. */
export type CompletionTable = ReadonlyMap<string, readonly CompletionWord[]>;

// The scripts contain all words: a program that starts at each press of the Tab key would be slow.

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const isGroup = (table: CompletionTable, name: string): boolean =>
  [...table.keys()].some((command) => command.startsWith(`${name} `));
const listGroups = (table: CompletionTable): string[] => [...table.keys()].filter((name) => isGroup(table, name));
const joinWords = (words: readonly CompletionWord[]): string => words.map(({ word }) => word).join(' ');

/** The options with a fixed set of values. An option has the same values in every command. */
function listValues(table: CompletionTable): [word: string, values: readonly string[]][] {
  const found = new Map<string, readonly string[]>();
  for (const { word, values } of [...table.values()].flat()) if (values) found.set(word, values);
  return [...found];
}

function listValueOptions(table: CompletionTable): string[] {
  const words = [...table.values()].flat().filter(({ hasValue, values }) => hasValue && !values);
  return [...new Set(words.map(({ word }) => word))];
}

export function renderBash(table: CompletionTable): string {
  const commands = [...table].map(([name, words]) => `    ${quote(name)}) words=${quote(joinWords(words))} ;;`);
  const values = listValues(table).map(([word, list]) => `    ${word}) words=${quote(list.join(' '))} ;;`);
  return `# Completion of pilothouse for bash. Load it with: eval "$(pilothouse completion bash)"
_pilothouse() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" command='' words=''
  if ((COMP_CWORD > 1)); then command="\${COMP_WORDS[1]}"; fi
  case "$command" in
    ${listGroups(table).join(' | ')}) if ((COMP_CWORD > 2)); then command="$command \${COMP_WORDS[2]}"; fi ;;
  esac
  case "$command" in
    help) words=${quote(joinWords(table.get('') ?? []))} ;;
${commands.join('\n')}
  esac
  case "$previous" in
${values.join('\n')}
    # The shell completes the name of a file.
    ${listValueOptions(table).join(' | ')}) return ;;
  esac
  # No mapfile: macOS has bash 3.2. The words contain no spaces.
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _pilothouse pilothouse`;
}

export function renderZsh(table: CompletionTable): string {
  const describe = ({ word, help }: CompletionWord) => quote(`${word.replaceAll(':', '\\:')}:${help}`);
  const commands = [...table].map(
    ([name, words]) => `    ${quote(name)}) entries=(${words.map(describe).join(' ')}) ;;`,
  );
  const values = listValues(table).map(([word, list]) => `    ${word}) entries=(${list.join(' ')}) ;;`);
  return `#compdef pilothouse
# Completion of pilothouse for zsh. Load it with: eval "$(pilothouse completion zsh)"
_pilothouse() {
  local command='' previous="\${words[CURRENT-1]}"
  local -a entries
  if ((CURRENT > 2)); then command="\${words[2]}"; fi
  case "$command" in
    ${listGroups(table).join('|')}) if ((CURRENT > 3)); then command="$command \${words[3]}"; fi ;;
  esac
  case "$command" in
${commands.join('\n')}
  esac
  case "$previous" in
${values.join('\n')}
    ${listValueOptions(table).join('|')}) _files; return ;;
  esac
  _describe -o pilothouse entries || _files
}
compdef _pilothouse pilothouse`;
}

export function renderFish(table: CompletionTable): string {
  const lines = [...table].flatMap(([name, words]) =>
    words.map(({ word, help, values, hasValue }) => {
      const subject = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      const value = values ? ` -x -a ${quote(values.join(' '))}` : hasValue ? ' -r' : '';
      const description = quote(help.replaceAll('\\', '\\\\')).replaceAll("'\\''", "\\'");
      return `complete -c pilothouse -n '__pilothouse_at "${name}"' ${subject}${value} -d ${description}`;
    }),
  );
  return `# Completion of pilothouse for fish. Load it with: pilothouse completion fish | source
function __pilothouse_at
  set -l words (commandline -opc)
  set -l command $words[2]
  if contains -- "$command" ${listGroups(table).join(' ')}
    set command (string join ' ' $words[2..3])
  end
  test "$command" = "$argv[1]"
end
${lines.join('\n')}`;
}
