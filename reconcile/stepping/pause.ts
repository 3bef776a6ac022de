import { share } from '../time/later-look.ts';

/** What the CronJob of manifests/install costs by itself: from there on, its ticks are enough. In seconds. */
export const tickSeconds = 60;

/** Seconds that must be between two looks which nothing but the clock asks for. */
export function pauseSeconds(quiet: number): number {
  return Math.min(quiet * share, tickSeconds);
}
