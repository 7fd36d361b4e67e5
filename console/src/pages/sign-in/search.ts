export interface SignInSearch {
  /** Where to go afterwards: a path of this console, never another host. */
  to?: string;
}

export function signInSearch({ to }: Record<string, unknown>): SignInSearch {
  return typeof to === 'string' && /^\/(?![/\\])/.test(to) ? { to } : {};
}
