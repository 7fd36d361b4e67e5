import { fileURLToPath } from 'node:url';
import { move } from '../../operations/backup/move.ts';
import type { StoreAddress } from '../../platform/state/raw-access.ts';
import type { Config } from '../../server/settings/config.ts';
import { INVALID, type SettingName } from '../../server/settings/settings.ts';
import { type CommandContext, defineCommand, readSecretFile, UsageError } from '../command.ts';
import { jsonOption, option, type ValueRule } from '../parameters.ts';
import { runCopy, sumRows } from './copy.ts';

const targetRule: ValueRule<StoreAddress> = {
  rule: 'must look like postgres://user:password@host:5432/database, or be a directory',
  isSecret: true,
  parse(text) {
    if (/^postgres(ql)?:\/\//.test(text))
      return URL.canParse(text) ? { dataDirectory: '', databaseUrl: text } : INVALID;
    if (text.startsWith('file://')) return URL.canParse(text) ? { dataDirectory: fileURLToPath(text) } : INVALID;
    const directory = text.replace(/^file:/, '');
    return directory === '' || /^\w+:\/\//.test(directory) || directory.endsWith('.db')
      ? INVALID
      : { dataDirectory: directory };
  },
};

const SETTINGS: readonly SettingName[] = [
  'dataDirectory',
  'databaseUrl',
  'secretsKeyFile',
  'clickhouseUrl',
  'clickhouseCluster',
  'logLevel',
];

export const moveStore = defineCommand({
  name: 'move',
  summary: 'Copy the store to PostgreSQL, or from PostgreSQL to a directory; no server may be running',
  settings: SETTINGS,
  defaults: { logLevel: 'warn' },
  options: {
    to: option('<url>', 'postgres://… or a directory; must be empty', targetRule),
    toFile: option('<file>', 'File that contains --to, so that the password is not an argument'),
    json: jsonOption,
  },
  async run(context) {
    const target = readTarget(context);
    const tables = await runCopy(context, (copy) => move({ ...copy, target }));
    const command = formatStartCommand(context.readConfig(), target);
    return {
      json: { tables, command },
      lines: [
        `Copied ${sumRows(tables, 'state')} rows in ${tables.length} tables; counts and digests are equal in both stores.`,
        `Start the server with: ${command}`,
      ],
      notes: ['The old store is unchanged. Do not start a server on it again: the two would diverge.'],
    };
  },
});

function readTarget(
  context: CommandContext<{ to: StoreAddress | undefined; toFile: string | undefined }>,
): StoreAddress {
  const { to, toFile } = context.options;
  if (to !== undefined) return to;
  if (toFile === undefined) throw new UsageError(['--to or --to-file is required']);
  const target = targetRule.parse(readSecretFile(context, toFile));
  if (target === INVALID) throw new UsageError([`the text in ${toFile} ${targetRule.rule}`]);
  return target;
}

/** The engine stays where it is, so the data directory does too. Passwords are replaced. */
function formatStartCommand(config: Config, target: StoreAddress): string {
  const { dataDirectory, secretsKeyFile, clickhouseUrl, clickhouseCluster } = config;
  const flags = target.databaseUrl
    ? ['--database-url', hidePassword(target.databaseUrl), '--data', dataDirectory]
    : ['--data', target.dataDirectory];
  if (secretsKeyFile) flags.push('--secrets-key-file', secretsKeyFile);
  if (clickhouseUrl) flags.push('--clickhouse-url', hidePassword(clickhouseUrl));
  if (clickhouseCluster) flags.push('--clickhouse-cluster', clickhouseCluster);
  return ['pilothouse', 'serve', ...flags.map(quote)].join(' ');
}

function hidePassword(text: string): string {
  const url = new URL(text);
  if (url.password !== '') url.password = 'PASSWORD';
  return url.href;
}

const quote = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
