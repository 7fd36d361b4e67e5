import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { demo, demoFleet } from '../demo/fleet.ts';
import { demoMeters } from '../demo/meters.ts';
import { openDemoLoader } from '../demo/telemetry/loader.ts';
import { openDemoUsage } from '../demo/usage/loader.ts';
import { parseNetwork } from '../kernel/addresses.ts';
import { systemClock } from '../kernel/clock.ts';
import { addDays, toUtcDay } from '../kernel/days.ts';
import type { Server } from '../server.ts';
import { configOf, localActor, UsageError, type World, withSettings } from './command.ts';
import { runServer, SERVER_SETTINGS } from './serve.ts';

export function demoCommand(program: Command, world: World): void {
  withSettings(
    program.command('demo').description('run the server with a demo organization, ready to call'),
    SERVER_SETTINGS,
  ).action(async (options) => {
    // A directory of its own: the demo's credentials are public and must not work on a server that starts here later.
    const config = configOf(options, world, {
      logLevel: world.environment.PILOTHOUSE_LOG_LEVEL || 'warn',
      dataDirectory: world.environment.PILOTHOUSE_DATA || '.pilothouse/demo',
      telemetryOrganization: world.environment.PILOTHOUSE_TELEMETRY_ORGANIZATION || demo.organizationId,
      // The demo serves this machine only, and so do the receivers that people try it with.
      webhookAllowPrivate: world.environment.PILOTHOUSE_WEBHOOK_ALLOW_PRIVATE || 'yes',
    });
    if (config.host !== 'localhost' && !parseNetwork('127.0.0.0/8')?.contains(config.host) && config.host !== '::1') {
      throw new UsageError([
        `--host must be a loopback address: the credentials of the demo are public, ${config.host} may not be`,
      ]);
    }
    await runServer(config, world, {
      demo: demo.admin,
      async prepare({ fleet, organizations }) {
        const isNew = !(await organizations.list()).some(({ id }) => id === demo.organizationId);
        await fleet.apply(demoFleet(systemClock.now(), { withCosts: isNew }), localActor(world, 'demo'));
      },
      ready(server) {
        world.print(welcome(server, config));
        const shared = { clock: systemClock, organizationId: demo.organizationId, say: world.say };
        const telemetry = openDemoLoader({ ...shared, engine: server.domains.engine });
        const usage = openDemoUsage({
          ...shared,
          ...server.domains,
          meters: demoMeters,
          lockAfterDays: config.lockAfterDays,
          actor: localActor(world, 'demo'),
        });
        return { close: async () => void (await Promise.all([telemetry.close(), usage.close()])) };
      },
    });
  });
}

function welcome({ url, dashboardUrl }: Server, { databaseUrl, dataDirectory }: Config): string {
  const today = toUtcDay(systemClock.now());
  const organization = `${url}/v1/organizations/${demo.organizationId}`;
  const admin = `-u ${demo.admin.keyId}:${demo.admin.keySecret}`;
  const developer = `-u ${demo.developer.keyId}:${demo.developer.keySecret}`;
  const bearer = `-H 'authorization: Bearer ${demo.token}'`;
  const json = "-H 'content-type: application/json'";
  return `
  Pilothouse is running.

    console     ${url}/
    API         ${url}/v1            reference  ${url}/docs
    dashboards  ${dashboardUrl}/api/v2

    organization     ${demo.organizationId}
    admin key        ${demo.admin.keyId} : ${demo.admin.keySecret}
    developer key    ${demo.developer.keyId} : ${demo.developer.keySecret}  (reads only)
    dashboard token  ${demo.token}
    read-write one   ${demo.writer}

  Update service scaling
    curl -X PATCH ${admin} ${json} \\
      -d '{"minTotalMemoryGb":48,"maxTotalMemoryGb":96,"numReplicas":3}' \\
      ${organization}/services/${demo.serviceId}/scaling

  Create key
    curl -X POST ${admin} ${json} \\
      -d '{"name":"ci","roles":["developer"]}' \\
      ${organization}/keys

  Get organization usage cost
    curl ${developer} '${organization}/usageCost?from_date=${addDays(today, -6)}&to_date=${today}'

  List dashboards
    curl ${bearer} ${dashboardUrl}/api/v2/dashboards

  Get dashboard
    curl ${bearer} ${dashboardUrl}/api/v2/dashboards/${demo.dashboardId}

  Everything is kept in ${databaseUrl ? 'the database' : dataDirectory}; stop with Ctrl+C.
`;
}
