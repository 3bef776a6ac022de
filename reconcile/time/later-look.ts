/** A look that costs requests comes after this part of the idle time, and so is late by no more than that. */
export const share = 1 / 8;
/** In seconds. */
const least = 60;

/** When a Job that is under way is worth another look without a watch. */
export function laterLook(since: string | undefined, now: Date): Date {
  const passed = (now.getTime() - Date.parse(since ?? '')) / 1000;
  return new Date(now.getTime() + Math.max(least, Number.isNaN(passed) ? 0 : passed * share) * 1000);
}

/** Of those that are there. */
export function earliest(...times: readonly (Date | undefined)[]): Date | undefined {
  return times.flatMap((time) => time ?? []).toSorted((a, b) => a.getTime() - b.getTime())[0];
}
