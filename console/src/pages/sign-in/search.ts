export interface SignInSearch {
  /** Where to go afterwards: a path of this console, never another host. */
  to?: string | undefined;
}

/** What is not good is said to be undefined: the router would let a member that is merely left out through. */
export function parseSignInSearch({ to }: Record<string, unknown>): SignInSearch {
  return typeof to === 'string' && /^\/(?![/\\])/.test(to) ? { to } : { to: undefined };
}
