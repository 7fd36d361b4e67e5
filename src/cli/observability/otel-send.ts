import { AppError } from '../../kernel/errors.ts';
import { limitTime } from '../../kernel/tasks/time-limit.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import { findErrorCode } from '../../platform/http/interfaces.ts';
import { type CommandContext, defineCommand, UsageError } from '../command.ts';
import { describeFailure } from '../connection/api.ts';
import { countRule, jsonOption, optionWithDefault } from '../parameters.ts';
import { openReader, type Reader } from './otel-query.ts';
import { createTestRecords, type TestRecords } from './otel-records.ts';
import { endpointOption, findServerEndpoint, serviceNameRule } from './otel-target.ts';

const TIMEOUT_MS = 15_000;
/** Of a message in a response. */
const MAX_TEXT = 500;

export const otelSend = defineCommand({
  name: 'otel send',
  summary: 'Send one log, one span and one data point, and wait until they can be queried',
  settings: ['serverUrl', 'serverKey', 'profile', 'ingestToken', 'readToken'],
  options: {
    endpoint: endpointOption,
    serviceName: optionWithDefault('<name>', 'Service name of the records', 'otel-send', serviceNameRule),
    wait: optionWithDefault('<seconds>', 'How long to wait until they can be queried', '30', countRule),
    json: jsonOption,
  },
  async run(context) {
    const { serviceName, wait } = context.options;
    const target = chooseTarget(context, context.options.endpoint);
    // Before anything is sent: a wrong key would otherwise look like a failure of the records.
    const reader = await findReader(context);
    try {
      const records = createTestRecords(serviceName, systemClock.now());
      await send(target, records);
      const waitedMs = await reader?.waitFor(records, wait * 1000);
      const { endpoint } = target;
      return {
        json: { endpoint, serviceName, traceId: records.traceId, queried: reader !== undefined, waitedMs },
        lines: [
          `${endpoint} accepted one log, one span and one data point of the service ${serviceName}.`,
          reader
            ? `All three can be queried at ${reader.url}. The trace is ${records.traceId}.`
            : 'They were not queried. A Pilothouse server accepts records when they are on disk.',
        ],
        notes: reader ? [] : [HOW_TO_QUERY],
      };
    } finally {
      await reader?.close();
    }
  },
});

const HOW_TO_QUERY =
  'To query them: use --url with --key-file or --read-token-file, or a profile; or open the logs in the console.';

type Context = Pick<CommandContext, 'findAddress' | 'readConfig'>;

interface Target {
  endpoint: string;
  headers: Readonly<Record<string, string>>;
}

/** Without a server and a token, what an SDK that is started in the same shell would use. */
function chooseTarget(context: Context, given: string | undefined): Target {
  const { ingestToken, otlpEndpoint, otlpHeaders = {} } = context.readConfig();
  const endpoint = given ?? findServerEndpoint(context);
  if (ingestToken !== undefined) {
    const target = endpoint ?? otlpEndpoint;
    if (target !== undefined) return { endpoint: target, headers: { authorization: `Bearer ${ingestToken}` } };
  } else if (endpoint === undefined && otlpEndpoint !== undefined)
    return { endpoint: otlpEndpoint, headers: otlpHeaders };
  throw new UsageError(
    endpoint === undefined
      ? ['the endpoint is missing: use --endpoint, --url, PILOTHOUSE_URL, a profile or OTEL_EXPORTER_OTLP_ENDPOINT']
      : [
          'the token is missing: use --token-file or PILOTHOUSE_TOKEN; pilothouse token create --access ingest creates one',
        ],
  );
}

/** Undefined if the command knows no server, or has nothing that lets it in. */
async function findReader({ findAddress, readConfig }: Context): Promise<Reader | undefined> {
  const { readToken } = readConfig();
  const address = findAddress();
  if (readToken !== undefined && !address)
    throw new UsageError(['--read-token needs the server: use --url, PILOTHOUSE_URL or a profile']);
  if (!address || (address.key === undefined && readToken === undefined)) return undefined;
  return openReader({ url: address.url.replace(/\/+$/, ''), key: address.key, readToken });
}

async function send({ endpoint, headers }: Target, { requests }: TestRecords): Promise<void> {
  for (const { signal, body } of requests) {
    const url = `${endpoint}/v1/${signal}`;
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: limitTime(TIMEOUT_MS),
    }).catch((cause: Error) => {
      throw new AppError('unavailable', explainUnreachable(endpoint, describeFailure(cause)), { cause });
    });
    const answer = parseAnswer(await response.text());
    if (!response.ok) throw toFailure(url, response, answer);
    const { errorMessage } = answer.partialSuccess ?? {};
    if (errorMessage) throw new AppError('conflict', `${url} rejects the record: ${shorten(errorMessage)}`);
  }
}

/** A server for gRPC closes the connection, or answers with something that is not HTTP/1.1. */
const explainUnreachable = (endpoint: string, reason: string): string =>
  /closed|ECONNRESET|HTTP\/1\.1|HPE_/i.test(reason)
    ? `${endpoint} does not respond over HTTP: ${reason}; is it a port for gRPC? The usual port for OTLP/HTTP is 4318`
    : `${endpoint} cannot be reached: ${reason}`;

function toFailure(url: string, { status, headers }: Response, { message }: Answer): AppError {
  if (status >= 300 && status < 400)
    return new AppError('unavailable', `${url} redirects to ${headers.get('location')}; use that address`);
  if (status === 401)
    return new AppError(
      'unauthorized',
      `${url} rejects the token: it is not a token of this server, or it has expired or was deleted`,
    );
  if (message) {
    // Not a bad request: the command line was right.
    const code = findErrorCode(status);
    return new AppError(code === 'bad_request' ? 'conflict' : code, `${url}: ${shorten(message)}`);
  }
  const advice = 'the endpoint of Pilothouse is its URL and /otlp, or the port that --otlp-port sets';
  return new AppError(
    'unavailable',
    `${url} responds with status ${status}, but not as a receiver of OpenTelemetry data: ${advice}`,
  );
}

const shorten = (text: string): string => String(text).slice(0, MAX_TEXT);

/** A google.rpc.Status or a response of OTLP; neither, if it is not JSON. */
interface Answer {
  message?: string;
  partialSuccess?: { errorMessage?: string };
}

function parseAnswer(text: string): Answer {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === 'object' && answer !== null ? answer : {};
  } catch {
    return {};
  }
}
