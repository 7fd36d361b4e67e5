/** A path with other paths below it, such as `/tools/pilothouse`; empty where everything stands at the root. */
export type BasePath = string;

/**
 * The address as the routes know it. What does not lie below the base path gets a second slash in front: no route
 * begins like that, so nothing answers there.
 */
export function stripBasePath(basePath: BasePath, url: string): string {
  if (basePath === '') return url;
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(url)?.[1] ?? url;
  const rest = path.startsWith(basePath) ? path.slice(basePath.length) : undefined;
  if (rest?.startsWith('/')) return rest;
  if (rest === '' || rest?.startsWith('?')) return `/${rest}`;
  return path.startsWith('/') ? `/${path}` : `//${path}`;
}

/** `/tools/pilothouse`; a slash at the end makes no difference. */
export function parseBasePath(text: string): BasePath | undefined {
  const path = text.replace(/\/$/, '');
  return /^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/.test(path) ? path : undefined;
}
