/** One at a time, in the order they came. */
export function createLane() {
  let last: Promise<void> = Promise.resolve();
  return {
    /** Resolves when it is one's turn; what it answers ends that turn. */
    async enter(): Promise<() => void> {
      const before = last;
      let leave = () => {};
      last = new Promise((resolve) => {
        leave = resolve;
      });
      await before;
      return leave;
    },
  };
}

export type Lane = ReturnType<typeof createLane>;
