interface SignInSearch {
  /** The page to open after sign-in: a path of this console, never another host. */
  to?: string | undefined;
}

/** Invalid values are set to undefined explicitly: the router keeps the original value of members that are omitted. */
export function parseSignInSearch({ to }: Record<string, unknown>): SignInSearch {
  return typeof to === 'string' && /^\/(?![/\\])/.test(to) ? { to } : { to: undefined };
}
