import { setTimeout as delay } from 'node:timers/promises';
import { isLoopbackHost } from '../../kernel/access/addresses.ts';
import { SECOND_MS, systemClock } from '../../kernel/time/clock.ts';
import { addDays, toUtcDay } from '../../kernel/time/days.ts';
import type { ServiceState } from '../../management/services/driver.ts';
import type { Service } from '../../management/services/service.ts';
import { demoBudget, demo as demoData, demoFleet } from '../../operations/demo/fleet.ts';
import { demoMeters } from '../../operations/demo/meters.ts';
import { openDemoLoader } from '../../operations/demo/telemetry/loader.ts';
import { openDemoUsage } from '../../operations/demo/usage/loader.ts';
import type { Domains } from '../../server/domains.ts';
import type { Server } from '../../server/server.ts';
import type { Config } from '../../server/settings/config.ts';
import { ALL_SETTINGS } from '../../server/settings/settings.ts';
import { defineCommand, UsageError } from '../command.ts';
import { runServer } from '../server/serve.ts';

/** The ports that SDKs and collectors use by default, for OTLP/HTTP and OTLP/gRPC. */
const OTLP_PORTS = { otlpPort: 4318, otlpGrpcPort: 4317 };

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
    defaultDriver: 'embedded',
  },
  async run(context) {
    const given = context.readConfig();
    requireLoopback(given.host);
    const { otlpPort = OTLP_PORTS.otlpPort, otlpGrpcPort = OTLP_PORTS.otlpGrpcPort } = given;
    const config = { ...given, otlpPort, otlpGrpcPort };
    await runServer(config, context, {
      demo: demoData.admin,
      // A port that was asked for is not optional.
      optionalPorts: [
        ...(given.otlpPort === undefined ? [otlpPort] : []),
        ...(given.otlpGrpcPort === undefined ? [otlpGrpcPort] : []),
      ],
      async prepare({ fleet, organizations, budgets }) {
        const isNew = !(await organizations.list()).some(({ id }) => id === demoData.organizationId);
        await fleet.apply(demoFleet(systemClock.now(), { withCosts: isNew }), context.actor('demo'));
        if (isNew) await budgets.create(context.actor('demo'), demoData.organizationId, demoBudget);
      },
      async onReady(server) {
        const startedAt = await findFirstStart(server.domains);
        const analytics = await waitForService(server.domains);
        context.print(formatWelcome(server, config, analytics));
        const missing = formatMissingPorts(server, config);
        if (missing !== undefined) context.printMessage(missing);
        const shared = { clock: systemClock, organizationId: demoData.organizationId, say: context.printMessage };
        const telemetry = openDemoLoader({ ...shared, engine: server.domains.engine });
        const usage = openDemoUsage({
          ...shared,
          ...server.domains,
          meters: demoMeters(demoData.ids, startedAt),
          lockAfterDays: config.lockAfterDays,
          actor: context.actor('demo'),
        });
        return { close: async () => void (await Promise.all([telemetry.close(), usage.close()])) };
      },
    });
    return {};
  },
});

/** When the demo organization was created; from then on its services are metered. */
async function findFirstStart({ audit }: Domains): Promise<number> {
  const { activities } = await audit.list(demoData.organizationId, { type: 'create_organization' }, { limit: 1 });
  return activities[0]?.createdAt ?? systemClock.now();
}

const START_MS = 10 * SECOND_MS;
const POLL_MS = 20;
const PENDING: readonly ServiceState[] = ['provisioning', 'starting', 'awaking'];

/** The first service, once its endpoint accepts queries or it has failed to start; after some time, as it is. */
async function waitForService({ drivenServices }: Domains): Promise<Readonly<Service> | undefined> {
  const giveUpAt = systemClock.monotonicMs() + START_MS;
  for (;;) {
    const service = await drivenServices.find(demoData.organizationId, demoData.serviceId);
    const isPending = service && PENDING.includes(service.observed.state) && !service.observed.endpoint;
    if (!isPending || systemClock.monotonicMs() >= giveUpAt) return service;
    await delay(POLL_MS);
  }
}

/** How to query the service, or why it cannot be queried. */
function formatQuery(service: Readonly<Service> | undefined): string {
  if (!service) return 'The service was deleted';
  const { endpoint, state, reason } = service.observed;
  if (!endpoint || state === 'degraded') return `${service.name} is ${state}: ${reason ?? 'it has no endpoint yet'}`;
  const url = `${endpoint.protocol ?? 'http'}://${endpoint.host}:${endpoint.port}/?query=SELECT+version()`;
  return `curl -u default:${demoData.servicePassword} '${url}'`;
}

function requireLoopback(host: string): void {
  if (isLoopbackHost(host)) return;
  throw new UsageError([`--host must be a loopback address, not "${host}": the demo credentials are public`]);
}

/** One line about the ports for OpenTelemetry data that other programs use. */
function formatMissingPorts(
  { url, otlpUrl, otlpGrpcPort }: Server,
  config: Pick<Config, 'otlpPort' | 'otlpGrpcPort'>,
): string | undefined {
  const isOnMainPort = otlpUrl.startsWith(url);
  const ports = [
    ...(isOnMainPort ? [`${config.otlpPort} (OTLP/HTTP)`] : []),
    ...(otlpGrpcPort === undefined ? [`${config.otlpGrpcPort} (OTLP/gRPC)`] : []),
  ];
  if (ports.length === 0) return undefined;
  const subject = ports.length === 1 ? `port ${ports[0]} is` : `ports ${ports.join(' and ')} are`;
  return `${subject} in use by another program; the demo accepts OpenTelemetry data at ${otlpUrl}`;
}

/** A log record without a time, so that the command does not depend on the day; it gets the time at which it arrives. */
const DEMO_LOG = JSON.stringify({
  resourceLogs: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'hello' } }] },
      scopeLogs: [{ logRecords: [{ severityNumber: 9, body: { stringValue: 'Hello from curl' } }] }],
    },
  ],
});

function formatWelcome(
  { url, dashboardUrl, otlpUrl, otlpGrpcPort }: Server,
  { databaseUrl, dataDirectory }: Config,
  analytics: Readonly<Service> | undefined,
): string {
  const today = toUtcDay(systemClock.now());
  const organization = `${url}/v1/organizations/${demoData.organizationId}`;
  const admin = `-u ${demoData.admin.keyId}:${demoData.admin.keySecret}`;
  const developer = `-u ${demoData.developer.keyId}:${demoData.developer.keySecret}`;
  const bearer = `-H 'authorization: Bearer ${demoData.token}'`;
  const json = "-H 'content-type: application/json'";
  const grpc = otlpGrpcPort === undefined ? '' : `, gRPC on port ${otlpGrpcPort}`;
  return `
  Pilothouse is running.

    Console          ${url}/
    Management API   ${url}/v1
    Dashboard API    ${dashboardUrl}/api/v2
    API reference    ${url}/docs
    OpenTelemetry    ${otlpUrl}  (token ${demoData.ingestToken}${grpc})

    Organization     ${demoData.organizationId}
    Admin key        ${demoData.admin.keyId} : ${demoData.admin.keySecret}
    Developer key    ${demoData.developer.keyId} : ${demoData.developer.keySecret}  (read-only)
    Dashboard token  ${demoData.token}  (read-only)
    Dashboard token  ${demoData.writer}  (read-write)

  Query a service
    ${formatQuery(analytics)}
    The service analytics-reader is simulated: embedded services cannot share the data of a warehouse.

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

  Send a log
    curl -X POST -H 'authorization: Bearer ${demoData.ingestToken}' ${json} \\
      -d '${DEMO_LOG}' \\
      ${otlpUrl}/v1/logs

  Data is stored in ${databaseUrl ? 'the database' : dataDirectory}. Press Ctrl+C to stop.
`;
}
