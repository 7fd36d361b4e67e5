/** Runs `work` once for all callers. Its result is kept until `forget`; after a failure, the next caller starts it again. */
export function createSharedAttempt<T>(work: () => Promise<T>) {
  let current: Promise<T> | undefined;

  return {
    get(): Promise<T> {
      if (current) return current;
      const attempt = work();
      current = attempt;
      attempt.catch(() => {
        if (current === attempt) current = undefined;
      });
      return attempt;
    },

    /** Undefined if `work` is neither running nor done. */
    find: (): Promise<T> | undefined => current,

    forget(): void {
      current = undefined;
    },
  };
}
