import { isoSeconds, isoTime } from '../kernel/clock.ts';
import { TOKEN_ACCESSES } from '../kernel/roles.ts';
import { STORE_SETTINGS } from '../settings.ts';
import { DEFAULT_ACCESS, DEFAULT_TOKEN_NAME, type Token } from '../tokens/token.ts';
import { defineCommand } from './command.ts';
import {
  argument,
  expiryRule,
  jsonOption,
  nameRule,
  oneOf,
  option,
  optionWithDefault,
  organizationOption,
} from './parameters.ts';

const createToken = defineCommand({
  name: 'token create',
  summary: 'Create a dashboard token and print it; it is shown only once',
  settings: STORE_SETTINGS,
  options: {
    org: organizationOption,
    name: optionWithDefault('<name>', 'Name of the token', DEFAULT_TOKEN_NAME, nameRule),
    access: optionWithDefault(
      '<access>',
      `Access level: ${TOKEN_ACCESSES.join(', ')}; write includes read`,
      DEFAULT_ACCESS,
      oneOf(TOKEN_ACCESSES),
    ),
    expires: option('<time>', 'Expiry as an ISO 8601 date and time with an offset or Z; never if omitted', expiryRule),
    json: jsonOption,
  },
  run: ({ withOrganization, actor, options: { name, access, expires } }) =>
    withOrganization(async (organization, domains) => {
      const { token, text } = await domains.tokens.create(actor(), organization.id, {
        name,
        access,
        expireAt: expires,
      });
      return {
        json: { id: token.id, name: token.name, access: token.access, token: text },
        notes: [`Created dashboard token ${token.name}. It is shown only once.`],
        lines: [text],
      };
    }),
});

const listTokens = defineCommand({
  name: 'token list',
  summary: 'List dashboard tokens',
  settings: STORE_SETTINGS,
  options: { org: organizationOption, json: jsonOption },
  run: ({ withOrganization }) =>
    withOrganization(async (organization, domains) => {
      const records = (await domains.tokens.list(organization.id)).map(toRecord);
      const rows = records.map(({ id, name, access, suffix, expireAt, usedAt }) => [
        id,
        name,
        access,
        `…${suffix}`,
        expireAt ?? 'never',
        usedAt ?? 'never',
      ]);
      return { json: records, table: { header: ['ID', 'NAME', 'ACCESS', 'TOKEN', 'EXPIRES', 'LAST USED'], rows } };
    }),
});

const deleteToken = defineCommand({
  name: 'token delete',
  summary: 'Delete a dashboard token; it stops working immediately',
  settings: STORE_SETTINGS,
  arguments: { id: argument('<id>', 'Id of the token, as listed by token list') },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withOrganization, actor, arguments: { id } }) =>
    withOrganization(async (organization, domains) => {
      const deleted = await domains.tokens.remove(actor(), organization.id, id.toLowerCase());
      return { json: toRecord(deleted), lines: [`Deleted dashboard token ${deleted.name}.`] };
    }),
});

export const tokenCommands = [createToken, listTokens, deleteToken];

const toRecord = ({ id, name, access, tokenSuffix, createdAt, expireAt, usedAt }: Token) => ({
  id,
  name,
  access,
  suffix: tokenSuffix,
  createdAt: isoSeconds(createdAt),
  expireAt: expireAt === undefined ? null : isoTime(expireAt),
  usedAt: usedAt === undefined ? null : isoSeconds(usedAt),
});
