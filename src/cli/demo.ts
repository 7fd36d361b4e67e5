import type { Config } from '../config.ts';
import { demoBudget, demo as demoData, demoFleet } from '../demo/fleet.ts';
import { demoMeters } from '../demo/meters.ts';
import { openDemoLoader } from '../demo/telemetry/loader.ts';
import { openDemoUsage } from '../demo/usage/loader.ts';
import { isLoopbackHost } from '../kernel/addresses.ts';
import { systemClock } from '../kernel/clock.ts';
import { addDays, toUtcDay } from '../kernel/days.ts';
import type { Server } from '../server.ts';
import { ALL_SETTINGS } from '../settings.ts';
import { defineCommand, UsageError } from './command.ts';
import { runServer } from './serve.ts';

export const demo = defineCommand({
  name: 'demo',
  summary: 'Run the server with a demo organization',
  settings: ALL_SETTINGS,
  defaults: {
    logLevel: 'warn',
    // Not the default of `serve`: the public demo credentials must not work on a later server in the same directory.
    dataDirectory: '.pilothouse/demo',
    telemetryOrganization: demoData.organizationId,
    // The demo listens on loopback only, and webhook receivers for trying it out do as well.
    webhookAllowPrivate: 'yes',
  },
  async run(context) {
    const config = context.readConfig();
    requireLoopback(config.host);
    await runServer(config, context, {
      demo: demoData.admin,
      async prepare({ fleet, organizations, budgets }) {
        const isNew = !(await organizations.list()).some(({ id }) => id === demoData.organizationId);
        await fleet.apply(demoFleet(systemClock.now(), { withCosts: isNew }), context.actor('demo'));
        if (isNew) await budgets.create(context.actor('demo'), demoData.organizationId, demoBudget);
      },
      onReady(server) {
        context.print(formatWelcome(server, config));
        const shared = { clock: systemClock, organizationId: demoData.organizationId, say: context.printMessage };
        const telemetry = openDemoLoader({ ...shared, engine: server.domains.engine });
        const usage = openDemoUsage({
          ...shared,
          ...server.domains,
          meters: demoMeters(demoData.ids),
          lockAfterDays: config.lockAfterDays,
          actor: context.actor('demo'),
        });
        return { close: async () => void (await Promise.all([telemetry.close(), usage.close()])) };
      },
    });
    return {};
  },
});

function requireLoopback(host: string): void {
  if (isLoopbackHost(host)) return;
  throw new UsageError([`--host must be a loopback address, not "${host}": the demo credentials are public`]);
}

function formatWelcome({ url, dashboardUrl }: Server, { databaseUrl, dataDirectory }: Config): string {
  const today = toUtcDay(systemClock.now());
  const organization = `${url}/v1/organizations/${demoData.organizationId}`;
  const admin = `-u ${demoData.admin.keyId}:${demoData.admin.keySecret}`;
  const developer = `-u ${demoData.developer.keyId}:${demoData.developer.keySecret}`;
  const bearer = `-H 'authorization: Bearer ${demoData.token}'`;
  const json = "-H 'content-type: application/json'";
  return `
  Pilothouse is running.

    Console          ${url}/
    Management API   ${url}/v1
    Dashboard API    ${dashboardUrl}/api/v2
    API reference    ${url}/docs

    Organization     ${demoData.organizationId}
    Admin key        ${demoData.admin.keyId} : ${demoData.admin.keySecret}
    Developer key    ${demoData.developer.keyId} : ${demoData.developer.keySecret}  (read-only)
    Dashboard token  ${demoData.token}  (read-only)
    Dashboard token  ${demoData.writer}  (read-write)

  Update service scaling
    curl -X PATCH ${admin} ${json} \\
      -d '{"minTotalMemoryGb":48,"maxTotalMemoryGb":96,"numReplicas":3}' \\
      ${organization}/services/${demoData.serviceId}/scaling

  Create key
    curl -X POST ${admin} ${json} \\
      -d '{"name":"ci","roles":["developer"]}' \\
      ${organization}/keys

  Get organization usage cost
    curl ${developer} '${organization}/usageCost?from_date=${addDays(today, -6)}&to_date=${today}'

  List dashboards
    curl ${bearer} ${dashboardUrl}/api/v2/dashboards

  Get dashboard
    curl ${bearer} ${dashboardUrl}/api/v2/dashboards/${demoData.dashboardId}

  Data is stored in ${databaseUrl ? 'the database' : dataDirectory}. Press Ctrl+C to stop.
`;
}
