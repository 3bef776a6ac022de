/**
 * Work that is done once at a time: callers that come while it is under way share the next, which begins after each of
 * them came. A failure reaches the callers that share it, and no later ones.
 */
export function sharing<T>(work: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= last
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return work();
      });
    last = next;
    return next;
  };
}
