interface Running<T> {
  ended: Promise<void>;
  next?: Promise<T>;
}

/**
 * Callers that want the same thing share a read. Those that call while it runs share the next one, which starts when it
 * ends: no caller gets data older than its call.
 */
export function createSharedReads<T>() {
  const running = new Map<string, Running<T>>();

  function start(key: string, read: () => Promise<T>): Promise<T> {
    const result = read();
    const end = () => {
      if (entry.next === undefined) running.delete(key);
    };
    const entry: Running<T> = { ended: result.then(end, end) };
    running.set(key, entry);
    return result;
  }

  return (key: string, read: () => Promise<T>): Promise<T> => {
    const entry = running.get(key);
    if (entry === undefined) return start(key, read);
    entry.next ??= entry.ended.then(() => start(key, read));
    return entry.next;
  };
}
