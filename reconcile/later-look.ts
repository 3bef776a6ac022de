/** Of the time that has passed already. */
const share = 1 / 8;
/** In seconds. */
const least = 60;

/** When a Job that is under way is worth another look without a watch: it is seen late by an eighth of its time. */
export function laterLook(since: string | undefined, now: Date): Date {
  const passed = (now.getTime() - Date.parse(since ?? '')) / 1000;
  return new Date(now.getTime() + Math.max(least, Number.isNaN(passed) ? 0 : passed * share) * 1000);
}
