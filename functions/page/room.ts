/** At most so many at once; one too many is told at once, not queued. */
export function createRoom(most: number): <T>(work: () => Promise<T>) => Promise<T> | undefined {
  let inside = 0;
  return (work) => {
    if (inside >= most) return undefined;
    inside += 1;
    return work().finally(() => {
      inside -= 1;
    });
  };
}
