/** The base path of the server without a trailing slash: '' or '/x'. A built script derives it from its own URL. */
export function findBase(scriptAddress: string): string {
  const { pathname } = new URL(scriptAddress);
  const [, base] = /^(.*)\/assets\/[^/]+$/.exec(pathname) ?? [];
  return base ?? '';
}
