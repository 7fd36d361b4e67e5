import type { FastifyRequest } from 'fastify';
import { AppError } from '../../../kernel/errors.ts';

/** Sent by the console with every request. Other sites cannot make a browser send it. */
export const CSRF_HEADER = 'x-pilothouse-csrf';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The types that a page can send to another site without a preflight request, which no route allows. */
const FORM_TYPES = /^\s*(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(;|$)/i;

/** Rejects a change that a page of another site started, such as a form. A browser may add stored Basic credentials to it. */
export function rejectCrossSite(request: FastifyRequest): void {
  if (!SAFE_METHODS.has(request.method) && isCrossSite(request)) throw crossSiteError();
}

/** As `rejectCrossSite`, for routes that only pages of the console call: reading is rejected too. */
export function requireSameSite({ headers }: FastifyRequest): void {
  if (isOtherSite(headers['sec-fetch-site'])) throw crossSiteError();
}

function isCrossSite({ method, headers }: FastifyRequest): boolean {
  const { origin, host, 'sec-fetch-site': site, 'content-type': type = 'text/plain' } = headers;
  if (site !== undefined) return isOtherSite(site);
  // Browsers omit `sec-fetch-site` over plain HTTP, and old ones do not have it. A proxy may have changed the host.
  const needsPreflight = method !== 'POST' || !FORM_TYPES.test(type) || headers[CSRF_HEADER] !== undefined;
  if (origin === undefined || needsPreflight) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase();
}

const isOtherSite = (site: string | string[] | undefined): boolean =>
  site !== undefined && site !== 'same-origin' && site !== 'none';

const crossSiteError = (): AppError =>
  new AppError(
    'forbidden',
    'Pages of other sites may not send this request; use a page of this server or an API client',
  );
