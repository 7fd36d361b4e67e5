/** The path prefix of all routes, such as `/tools/pilothouse`; empty for none. */
export type BasePath = string;

/**
 * Removes the base path from a URL. A URL outside the base path gets a second leading slash, which matches no route.
 */
export function stripBasePath(basePath: BasePath, url: string): string {
  if (basePath === '') return url;
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(url)?.[1] ?? url;
  const rest = path.startsWith(basePath) ? path.slice(basePath.length) : undefined;
  if (rest?.startsWith('/')) return rest;
  if (rest === '' || rest?.startsWith('?')) return `/${rest}`;
  return path.startsWith('/') ? `/${path}` : `//${path}`;
}

/** Parses `/tools/pilothouse`; a trailing slash is ignored. */
export function parseBasePath(text: string): BasePath | undefined {
  const path = text.replace(/\/$/, '');
  return /^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/.test(path) ? path : undefined;
}
