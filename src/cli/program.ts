import { Command, CommanderError } from 'commander';
import { AppError, formatViolation } from '../kernel/errors.ts';
import { VERSION } from '../server.ts';
import { applyCommand, exportCommand } from './apply.ts';
import { budgetCommands } from './budgets.ts';
import { UsageError, type World } from './command.ts';
import { dashboardCommands } from './dashboards.ts';
import { demoCommand } from './demo.ts';
import { doctorCommand } from './doctor.ts';
import { keyCommands } from './keys.ts';
import { organizationCommands, serviceCommands } from './organizations.ts';
import { priceCommands } from './prices.ts';
import { referenceCommand } from './reference.ts';
import { serveCommand } from './serve.ts';
import { tokenCommands } from './tokens.ts';
import { usageCommands } from './usage.ts';
import { usageReportCommands } from './usage-reports.ts';

const OK = 0;
const FAILED = 1;
const USAGE = 2;

/** Runs one command line and answers its exit code. */
export async function run(argv: readonly string[], world: World): Promise<number> {
  const program = new Command('pilothouse')
    .description('An open, self-hosted control plane for ClickHouse-style database fleets')
    .version(VERSION)
    .exitOverride()
    .configureOutput({ writeOut: (text) => world.print(text.trimEnd()), writeErr: (text) => world.say(text.trimEnd()) })
    .showHelpAfterError('(pilothouse --help lists the commands)');
  for (const add of [
    serveCommand,
    demoCommand,
    applyCommand,
    exportCommand,
    organizationCommands,
    serviceCommands,
    keyCommands,
    tokenCommands,
    dashboardCommands,
    priceCommands,
    usageCommands,
    usageReportCommands,
    budgetCommands,
    doctorCommand,
    referenceCommand,
  ]) {
    add(program, world);
  }
  try {
    await program.parseAsync(argv, { from: 'user' });
    return OK;
  } catch (error) {
    return explained(error, world);
  }
}

function explained(error: unknown, world: World): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? OK : USAGE;
  if (error instanceof UsageError) {
    for (const line of error.lines) world.say(`error: ${line}`);
    return USAGE;
  }
  if (error instanceof AppError) {
    const lines = error.violations.length > 0 ? error.violations.map(formatViolation) : [error.message];
    for (const line of lines) world.say(`error: ${line}`);
    return error.code === 'bad_request' ? USAGE : FAILED;
  }
  world.say(`error: ${(error as Error)?.message ?? String(error)}`);
  return FAILED;
}
