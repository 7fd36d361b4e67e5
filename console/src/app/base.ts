/** The path below which the server stands, without a slash at the end: '' or '/x'. A built script knows it from its own address. */
export function findBase(scriptAddress: string): string {
  const { pathname } = new URL(scriptAddress);
  const [, base] = /^(.*)\/assets\/[^/]+$/.exec(pathname) ?? [];
  return base ?? '';
}
