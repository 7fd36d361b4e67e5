interface SignInSearch {
  /** The page to open after sign-in: a path of this console, never another host. */
  to?: string | undefined;
  /** Why a sign-in with the identity provider failed. */
  problem?: string | undefined;
  /** The account at the identity provider that the problem is about. */
  account?: string | undefined;
}

/** Invalid values are set to undefined explicitly: the router keeps the original value of members that are omitted. */
export const parseSignInSearch = ({ to, problem, account }: Record<string, unknown>): SignInSearch => ({
  to: typeof to === 'string' && /^\/(?![/\\])/.test(to) ? to : undefined,
  problem: typeof problem === 'string' ? problem : undefined,
  // The router reads a number or a boolean as such.
  account: account === undefined ? undefined : String(account),
});
