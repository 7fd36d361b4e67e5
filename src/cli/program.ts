import { Command as Commander, CommanderError, Option } from 'commander';
import { AppError, formatViolation } from '../kernel/errors.ts';
import { escapeControls } from '../kernel/text.ts';
import type { SettingTexts } from '../server/settings/config.ts';
import { SETTINGS, type Setting, type SettingName } from '../server/settings/settings.ts';
import { VERSION } from '../server/version.ts';
import { budgetCommands } from './billing/budgets.ts';
import { priceCommands } from './billing/prices.ts';
import { usageCommands } from './billing/usage.ts';
import { usageEngineCommands } from './billing/usage-engine.ts';
import { usageReportCommands } from './billing/usage-reports.ts';
import {
  type Command,
  type CommandOutput,
  formatFileFlag,
  listSettings,
  type ProcessAccess,
  readSecretFile,
  UsageError,
} from './command.ts';
import { defineCompletion } from './completion.ts';
import { profileCommands } from './connection/profiles.ts';
import { createCommandContext } from './context.ts';
import { auditCommands } from './management/audit.ts';
import { autoscaleCommands } from './management/autoscale.ts';
import { keyCommands } from './management/keys.ts';
import { memberCommands } from './management/members.ts';
import { listOrganizations } from './management/organizations.ts';
import { roleCommands } from './management/roles.ts';
import { serviceBackup } from './management/service-backups.ts';
import { planService } from './management/service-plan.ts';
import { serviceQueryCommands } from './management/service-queries.ts';
import { serviceCommands } from './management/services.ts';
import { dashboardCommands } from './observability/dashboards.ts';
import { otelEnv } from './observability/otel-env.ts';
import { otelSend } from './observability/otel-send.ts';
import { tokenCommands } from './observability/tokens.ts';
import { apply, exportFleet } from './operations/apply.ts';
import { backup } from './operations/backup.ts';
import { demo } from './operations/demo.ts';
import { init } from './operations/init.ts';
import { moveStore } from './operations/move.ts';
import { restoreBackup } from './operations/restore.ts';
import { rotateSecrets } from './operations/secrets.ts';
import { formatFlag, type ParameterSet } from './parameters.ts';
import { reference } from './reference.ts';
import { doctor } from './server/doctor.ts';
import { serve } from './server/serve.ts';
import { supportBundle } from './server/support-bundle.ts';
import { tlsDev } from './server/tls-dev.ts';
import { formatTable } from './table.ts';

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const GROUPS: Record<string, string> = {
  org: 'List organizations',
  service: 'Manage and query database services',
  key: 'Manage API keys',
  member: 'List, invite and remove members',
  invitation: 'List and delete invitations',
  role: 'Manage the roles of API keys',
  token: 'Manage dashboard tokens',
  otel: 'Send OpenTelemetry data: the variables of an SDK, and a test',
  dashboard: 'Manage dashboards, their versions and files',
  prices: 'Show and set the price book',
  usage: 'Import, rate and report metered usage',
  budget: 'Manage budgets',
  autoscale: 'Compare settings of the autoscaler',
  audit: 'List and verify the audit log',
  secrets: 'Replace the key that encrypts secrets in the store',
  profile: 'Store the servers that commands use',
  tls: 'Create certificates for development',
};

const COMMANDS: readonly Command[] = [
  serve,
  demo,
  init,
  apply,
  exportFleet,
  backup,
  restoreBackup,
  moveStore,
  rotateSecrets,
  listOrganizations,
  ...serviceCommands,
  ...serviceQueryCommands,
  serviceBackup,
  planService,
  ...keyCommands,
  ...memberCommands,
  ...roleCommands,
  ...tokenCommands,
  otelEnv,
  otelSend,
  ...dashboardCommands,
  ...priceCommands,
  ...usageCommands,
  ...usageEngineCommands,
  ...usageReportCommands,
  ...budgetCommands,
  ...auditCommands,
  ...autoscaleCommands,
  ...profileCommands,
  tlsDev,
  doctor,
  defineCompletion(GROUPS, () => COMMANDS),
  supportBundle,
  reference,
];

/** For a reader who has just installed the package. */
const FIRST_STEPS = `
To try it: pilothouse demo
It runs a server with a demo organization on http://127.0.0.1:8080, and prints how to call it.`;

/** Runs one command line and returns its exit code. */
export async function runProgram(argv: readonly string[], access: ProcessAccess): Promise<number> {
  const program = new Commander('pilothouse')
    .description('An open, self-hosted control plane for ClickHouse-style database fleets')
    .version(VERSION, '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Print help')
    .helpCommand('help [command]', 'Print help for a command')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => access.print(text.trimEnd()),
      writeErr: (text) => access.printMessage(text.trimEnd()),
    })
    .showHelpAfterError('(run pilothouse --help for a list of commands)')
    .addHelpText('after', FIRST_STEPS);
  for (const command of COMMANDS) addCommand(program, command, access);
  try {
    // Without a command, as after `npx pilothouse`, printing the help is not an error.
    await program.parseAsync(argv.length === 0 ? ['--help'] : argv, { from: 'user' });
    return EXIT_OK;
  } catch (error) {
    return printError(error, access);
  }
}

function addCommand(program: Commander, command: Command, access: ProcessAccess): void {
  const { arguments: argumentSpecs = {}, options: optionSpecs = {}, defaults = {} } = command;
  const [name = '', verb] = command.name.split(' ');
  const parent = verb === undefined ? program : getGroup(program, name);
  const added = parent.command(verb ?? name, { hidden: command.isHidden ?? false }).description(command.summary);
  for (const { syntax, help } of Object.values(argumentSpecs)) added.argument(syntax, help);
  added.showHelpAfterError(`(run pilothouse ${command.name} --help for its arguments and options)`);
  for (const option of createOptions(optionSpecs)) added.addOption(option);
  const settingOptions = listSettings(command).flatMap((name) => createSettingOptions(name, defaults[name]));
  for (const { option } of settingOptions) added.addOption(option);

  added.action(async (...given: unknown[]) => {
    const rawOptions = given.at(-2) as Record<string, unknown>;
    const problems: string[] = [];
    const positions = Object.keys(argumentSpecs);
    const values = readParameters(
      argumentSpecs,
      (key) => given[positions.indexOf(key)],
      (key) => argumentSpecs[key]?.syntax ?? key,
      problems,
    );
    const options = readParameters(optionSpecs, (key) => rawOptions[key], formatFlag, problems);
    if (problems.length > 0) throw new UsageError(problems);
    const flags: SettingTexts = {};
    for (const { setting, option, isFile } of settingOptions) {
      const text = rawOptions[option.attributeName()];
      if (typeof text === 'string') flags[setting] ??= isFile ? readSecretFile(access, text) : text;
    }
    const { mayCreateStore = false } = command;
    const context = createCommandContext({ access, flags, defaults, mayCreateStore, options, arguments: values });
    const output = await command.run(context);
    printOutput(access, output, options.json === true);
    if (output.error) throw output.error;
  });
}

function getGroup(program: Commander, name: string): Commander {
  const existing = program.commands.find((command) => command.name() === name);
  if (existing) return existing;
  const group = program.command(name).description(GROUPS[name] ?? '');
  return group.showHelpAfterError(`(run pilothouse ${name} --help for a list of commands)`);
}

function createOptions(specs: ParameterSet): Option[] {
  return Object.entries(specs).map(([key, { syntax, help, isRequired, fallback }]) => {
    const option = new Option(`${formatFlag(key)} ${syntax}`.trim(), help);
    if (fallback !== undefined) option.default(fallback, fallback);
    return option.makeOptionMandatory(isRequired ?? false);
  });
}

function createSettingOptions(setting: SettingName, replaced: string | undefined) {
  const { flag, argument, help, variable, fallback, fallbackHelp, isSecret }: Setting = SETTINGS[setting];
  const shown = replaced ?? (fallback || fallbackHelp);
  const description = shown ? `${help} (default: ${shown})` : help;
  const option = new Option(`${flag} ${argument}`, `${description} [${variable}]`);
  const file = new Option(`${formatFileFlag(flag)} <file>`, `File that contains ${flag} [${variable}_FILE]`);
  return [{ setting, option, isFile: false }, ...(isSecret ? [{ setting, option: file, isFile: true }] : [])];
}

function readParameters(
  specs: ParameterSet,
  given: (key: string) => unknown,
  label: (key: string) => string,
  problems: string[],
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(specs).map(([key, { read }]) => [key, read(given(key), label(key), problems)]),
  );
}

function printOutput({ print, printMessage }: ProcessAccess, output: CommandOutput, isJson: boolean): void {
  const { json, table, lines = [], notes = [], warnings = [] } = output;
  for (const warning of warnings) printMessage(escapeControls(`warning: ${warning}`));
  if (isJson && json !== undefined) {
    print(escapeControls(JSON.stringify(json)));
    return;
  }
  for (const note of notes) printMessage(escapeControls(note));
  for (const line of table ? formatTable(table.header, table.rows) : []) print(escapeControls(line));
  for (const line of lines) print(escapeControls(line));
}

function printError(error: unknown, { printMessage }: ProcessAccess): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_OK : EXIT_USAGE;
  for (const line of listMessages(error)) printMessage(escapeControls(`error: ${line}`));
  const isUsage = error instanceof UsageError || (error instanceof AppError && error.code === 'bad_request');
  return isUsage ? EXIT_USAGE : EXIT_FAILED;
}

function listMessages(error: unknown): readonly string[] {
  if (error instanceof UsageError) return error.problems;
  if (error instanceof AppError && error.violations.length > 0) return error.violations.map(formatViolation);
  return [(error as Error)?.message ?? String(error)];
}
