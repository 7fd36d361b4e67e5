import type { Static } from 'typebox';
import type { CreateTokenResult } from '../../observability/tokens/schema.ts';
import { API_SETTINGS } from '../../server/settings/settings.ts';
import { type CommandContext, defineCommand, UsageError } from '../command.ts';
import { jsonOption, oneOf, option, optionWithDefault, organizationOption } from '../parameters.ts';
import { LANGUAGE_NAMES, type LanguageName, OTEL_LANGUAGES } from './otel-languages.ts';
import { endpointOption, findServerEndpoint, getLocalEndpoint, serviceNameRule } from './otel-target.ts';

/** A line that sets a variable. */
const FORMATS = {
  sh: (name: string, value: string) =>
    `export ${name}=${/^[\w.:/%=+,@-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`}`,
  powershell: (name: string, value: string) => `$env:${name} = '${value.replaceAll("'", "''")}'`,
  // For --env-file of Docker, which takes everything after the first = as it is.
  dotenv: (name: string, value: string) => `${name}=${value}`,
};
type Format = keyof typeof FORMATS;
const FORMAT_NAMES = Object.keys(FORMATS) as Format[];

/** Printed instead of a token that is not known. */
const PLACEHOLDER = 'TOKEN';

export const otelEnv = defineCommand({
  name: 'otel env',
  summary: 'Print the environment variables with which an OpenTelemetry SDK sends to the server',
  settings: [...API_SETTINGS, 'ingestToken', 'maxTokens'],
  options: {
    org: organizationOption,
    endpoint: endpointOption,
    serviceName: optionWithDefault('<name>', 'Name of the app', 'my-app', serviceNameRule),
    createToken: option('<name>', 'Create a token with the access ingest; it is shown only once'),
    language: option(
      '<language>',
      `Add what the SDK of a language needs: ${LANGUAGE_NAMES.join(', ')}`,
      oneOf(LANGUAGE_NAMES),
    ),
    format: optionWithDefault('<format>', `Format: ${FORMAT_NAMES.join(', ')}`, 'sh', oneOf(FORMAT_NAMES)),
    json: jsonOption,
  },
  async run(context) {
    const { endpoint, serviceName, createToken: name, language, format } = context.options;
    const { ingestToken: given } = context.readConfig();
    if (given !== undefined && name !== undefined)
      throw new UsageError(['--create-token and --token (or PILOTHOUSE_TOKEN) cannot be used together']);
    const target = endpoint ?? findServerEndpoint(context);
    const token = name === undefined ? given : await createToken(context, name);
    const variables = listVariables(target ?? getLocalEndpoint(context), token, serviceName, language);
    return {
      json: variables,
      lines: Object.entries(variables).map(([variable, value]) => FORMATS[format](variable, value)),
      warnings: token === undefined ? [`no token was given: ${MISSING_TOKEN}`] : [],
      notes: [
        ...(name === undefined ? [] : [`Created the token ${name}. It is shown only once.`]),
        ...(target === undefined ? ['The endpoint is that of a server on this machine; --url names another.'] : []),
        ...(language === undefined ? [] : [`To start the app: ${OTEL_LANGUAGES[language].start}`]),
      ],
    };
  },
});

const MISSING_TOKEN = `replace ${PLACEHOLDER}, or use --token-file, PILOTHOUSE_TOKEN or --create-token NAME`;

async function createToken({ withApi }: Pick<CommandContext, 'withApi'>, name: string): Promise<string> {
  return withApi(async (api) => {
    const { token = '' } = await api.call<Static<typeof CreateTokenResult>>('/dashboardTokens', {
      method: 'POST',
      body: { name, access: 'ingest' },
      options: { name: 'createToken' },
    });
    return token;
  });
}

function listVariables(
  endpoint: string,
  token: string | undefined,
  serviceName: string,
  language: LanguageName | undefined,
): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    // SDKs decode the value. A literal space is rejected by some of them.
    OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${token === undefined ? PLACEHOLDER : encodeURIComponent(token)}`,
    // Some SDKs use gRPC by default, which has another port.
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_SERVICE_NAME: serviceName,
    ...(language && OTEL_LANGUAGES[language].variables),
  };
}
