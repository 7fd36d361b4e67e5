import { hasControls } from '../../kernel/text.ts';
import { INVALID, SETTINGS } from '../../server/settings/settings.ts';
import type { CommandContext } from '../command.ts';
import { formatServerUrl } from '../connection/local-server.ts';
import { option, type ValueRule } from '../parameters.ts';

const { parse, rule } = SETTINGS.otlpEndpoint;

export const endpointOption = option('<url>', 'Where SDKs send to, without /v1/logs; the URL and /otlp if omitted', {
  parse,
  rule,
});

const MAX_NAME = 255;

export const serviceNameRule: ValueRule<string> = {
  rule: `must have 1 to ${MAX_NAME} characters, without control characters`,
  parse: (text) =>
    text.trim() !== '' && text.length <= MAX_NAME && !/[\t\n]/.test(text) && !hasControls(text) ? text : INVALID,
};

type Context = Pick<CommandContext, 'findAddress' | 'readConfig'>;

/** The endpoint of the server that the command uses. */
export function findServerEndpoint({ findAddress }: Context): string | undefined {
  const address = findAddress();
  return address && `${address.url.replace(/\/+$/, '')}/otlp`;
}

/** The endpoint of a server on this machine with the settings in the environment and the config file. */
export function getLocalEndpoint({ readConfig }: Context): string {
  const config = readConfig();
  const { port, otlpPort, basePath } = config;
  return otlpPort ? formatServerUrl(config, otlpPort, '') : `${formatServerUrl(config, port, basePath)}/otlp`;
}
