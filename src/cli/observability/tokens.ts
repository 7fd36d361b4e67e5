import type { Static } from 'typebox';
import { TOKEN_ACCESSES } from '../../kernel/access/roles.ts';
import { AppError } from '../../kernel/errors.ts';
import type { CreateTokenResult, TokenRecord } from '../../observability/tokens/schema.ts';
import { DEFAULT_ACCESS, DEFAULT_TOKEN_NAME } from '../../observability/tokens/token.ts';
import { API_SETTINGS } from '../../server/settings/settings.ts';
import { defineCommand } from '../command.ts';
import { anyText, argument, jsonOption, option, optionWithDefault, organizationOption } from '../parameters.ts';

type Token = Static<typeof TokenRecord>;

const createToken = defineCommand({
  name: 'token create',
  summary: 'Create a dashboard token and print it; it is shown only once',
  settings: [...API_SETTINGS, 'maxTokens'],
  options: {
    org: organizationOption,
    name: optionWithDefault('<name>', 'Name of the token', DEFAULT_TOKEN_NAME, anyText),
    access: optionWithDefault(
      '<access>',
      `Access level: ${TOKEN_ACCESSES.join(', ')}; write includes read`,
      DEFAULT_ACCESS,
      anyText,
    ),
    expires: option('<time>', 'Expiry as an ISO 8601 date and time with an offset or Z; never if omitted'),
    json: jsonOption,
  },
  run: ({ withApi, options: { name, access, expires } }) =>
    withApi(async (api) => {
      const created = await api.call<Static<typeof CreateTokenResult>>('/dashboardTokens', {
        method: 'POST',
        body: { name, access, expireAt: expires },
        options: { name: 'name', access: 'access', expireAt: 'expires' },
      });
      const { dashboardToken, token = '' } = created;
      return {
        json: { id: dashboardToken.id, name: dashboardToken.name, access: dashboardToken.access, token },
        notes: [`Created dashboard token ${dashboardToken.name}. It is shown only once.`],
        lines: [token],
      };
    }),
});

const listTokens = defineCommand({
  name: 'token list',
  summary: 'List dashboard tokens',
  settings: API_SETTINGS,
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi }) =>
    withApi(async (api) => {
      const records = (await api.list<Token>('/dashboardTokens')).map(toRecord);
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
  settings: API_SETTINGS,
  arguments: { id: argument('<id>', 'Id of the token, as listed by token list') },
  options: { org: organizationOption, json: jsonOption },
  run: ({ withApi, arguments: { id } }) =>
    withApi(async (api) => {
      const token = (await api.list<Token>('/dashboardTokens')).find((one) => one.id === id.toLowerCase());
      if (!token) throw new AppError('not_found', `dashboard token ${id} does not exist`);
      await api.call(`/dashboardTokens/${token.id}`, { method: 'DELETE' });
      return { json: toRecord(token), lines: [`Deleted dashboard token ${token.name}.`] };
    }),
});

export const tokenCommands = [createToken, listTokens, deleteToken];

const toRecord = ({ tokenSuffix, usedAt, ...token }: Token) => ({
  ...token,
  suffix: tokenSuffix,
  usedAt: usedAt ?? null,
});
