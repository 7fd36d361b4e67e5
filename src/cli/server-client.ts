import { AppError } from '../kernel/errors.ts';
import { INVALID } from '../settings.ts';
import { option, type ValueRule } from './parameters.ts';

const urlRule: ValueRule<string> = {
  rule: 'must look like http://127.0.0.1:8080',
  parse: (text) => (/^https?:\/\//.test(text) && URL.canParse(text) ? text : INVALID),
};

const keyRule: ValueRule<string> = {
  rule: 'must look like id:secret',
  isSecret: true,
  parse: (text) => (/^[^:]+:.+$/.test(text) ? text : INVALID),
};

export const urlOption = (help: string) => option('<url>', help, urlRule);
export const keyOption = option('<id:secret>', 'API key for --url', keyRule);

/** Calls a running server; paths are relative to the organization of the key. */
export async function connectToServer(url: string, key: string) {
  const authorization = `Basic ${Buffer.from(key).toString('base64')}`;
  const base = `${url.replace(/\/+$/, '')}/v1/organizations`;
  const organizations = await readResult(await fetch(base, { headers: { authorization } }));
  const [organization] = organizations as { id: string }[];
  return async (path: string, request: RequestInit = {}): Promise<unknown> => {
    const headers = { ...(request.headers as Record<string, string>), authorization };
    return readResult(await fetch(`${base}/${organization?.id}${path}`, { ...request, headers }));
  };
}

async function readResult(response: Response): Promise<unknown> {
  const text = await response.text();
  let body: { result?: unknown; error?: string };
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new AppError('unavailable', `The server responded with status ${response.status} and no JSON`, { cause });
  }
  if (!response.ok)
    throw new AppError('unavailable', `The server rejected the request: ${body.error ?? response.status}`);
  return body.result;
}
