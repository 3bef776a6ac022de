import { parseDuration } from '../../manifests/api/duration.ts';
import { windowDefaults } from '../../manifests/api/spec-defaults.ts';
import type { Windows } from '../../manifests/api/windows.ts';
import { dueTimes } from './due.ts';

export type Opening =
  | { readonly kind: 'open' }
  /** `opensAt` is absent where no window opens any more. */
  | { readonly kind: 'shut'; readonly opensAt?: Date }
  /** In words: which of the windows can't be read, and why. */
  | { readonly kind: 'unreadable'; readonly problem: string };

/**
 * Whether something may begin now. A window opens when its cron expression is due in its time zone, and stays open for
 * its duration, over midnight and changes of clocks. An unreadable one shuts all of them. Pure.
 */
export function openingOf(windows: Windows | undefined, at: Date): Opening {
  if (windows === undefined) return { kind: 'open' };
  const nexts: Date[] = [];
  let isOpen = false;
  for (const [index, { start, duration, timeZone = windowDefaults.timeZone }] of windows.entries()) {
    const times = dueTimes(start, timeZone);
    if ('problem' in times) return { kind: 'unreadable', problem: `windows[${index}]: ${times.problem}` };
    isOpen ||= times.missed(new Date(at.getTime() - parseDuration(duration)), at) !== undefined;
    nexts.push(...[times.next(at) ?? []].flat());
  }
  if (isOpen) return { kind: 'open' };
  const [opensAt] = nexts.toSorted((a, b) => a.getTime() - b.getTime());
  return { kind: 'shut', ...(opensAt && { opensAt }) };
}
