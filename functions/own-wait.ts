/** A caller that gives up ends only its own wait; the shared work goes on. @throws the error that `giveUp` makes */
export async function ownWait<T>(shared: Promise<T>, signal: AbortSignal, giveUp: () => Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => reject(giveUp());
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([shared, promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
