import type { FleetFile } from './schema.ts';

/** Generated secrets have 53 characters. Shorter ones than this are often words, which can be guessed. */
const MIN_STRONG_LENGTH = 16;

/** A warning for each short secret, with its path. The secret itself is not shown. */
export function listWeakSecrets({ organizations }: FleetFile): string[] {
  return organizations.flatMap(({ services = [], keys = [], dashboardTokens = [] }, index) => [
    ...services.flatMap(({ password, webhook }, at) => [
      ...warn(`organizations[${index}].services[${at}].password`, password),
      ...warn(`organizations[${index}].services[${at}].webhook.secret`, webhook?.secret),
    ]),
    ...keys.flatMap(({ keySecret }, key) => warn(`organizations[${index}].keys[${key}].keySecret`, keySecret)),
    ...dashboardTokens.flatMap(({ token }, at) => warn(`organizations[${index}].dashboardTokens[${at}].token`, token)),
  ]);
}

const warn = (path: string, secret: string | undefined): string[] =>
  secret === undefined || [...secret].length >= MIN_STRONG_LENGTH
    ? []
    : [`${path}: The secret is short; use at least ${MIN_STRONG_LENGTH} random characters`];
