import { styleText } from 'node:util';
import { type Done, totalsOf } from './task.ts';

/** The printed report: a line for each scenario, the story of each violation, and the totals. */

export const heading = columns('scenario', 'states', 'transitions', 'depth', 'violations', 'time', 'states/s');

export function lineOf({ scenario, states, transitions, depth, complete, found, took }: Done): string {
  const rate = count((states / Math.max(1, took)) * 1000);
  const reached = `${depth}${complete ? '' : '+'}`;
  return columns(scenario, count(states), count(transitions), reached, found ? '1' : '0', seconds(took), rate);
}

export function storyOf({ scenario, found }: Done): readonly string[] {
  if (!found) return [];
  const { violation, story } = found;
  return [
    '',
    styleText('red', `${violation.invariant} is violated in "${scenario}": ${violation.message}`),
    `The shortest story that leads to it, in ${story.length} events:`,
    ...story.map((line, index) => `  ${String(index + 1).padStart(3)}  ${line}`),
    '',
  ];
}

export function summaryOf(
  all: readonly Done[],
  { time, workers, busy }: { readonly time: number; readonly workers: number; readonly busy: number },
): string {
  const { states, transitions, depth, violations, complete, late, scenarios } = totalsOf(all);
  const far = scenarios - complete - late.length - violations;
  const rate = count((states / Math.max(1, time)) * 1000);
  return [
    `${count(states)} distinct states, ${count(transitions)} transitions, depth ${depth}, ${violations} violations, ${seconds(time)}`,
    `${rate} states a second on ${workers} workers, which were given ${seconds(busy)} of processor time; ${complete} of ${scenarios} scenarios to the end, ${far} (+) as far as the number of states allows, ${late.length} (+) as far as time went`,
    ...(violations > 0
      ? []
      : [
          'From each of these states, if nothing more goes wrong, the cluster comes to rest: done, or with a refusal that names its cure.',
        ]),
  ].join('\n');
}

/** Sentences that say what a whole search lacks. */
export function lackOf(all: readonly Done[]): readonly string[] {
  const { states, late } = totalsOf(all);
  return [
    ...(late.length > 0 ? [`Time was over before these had reached their end, or --states: ${late.join('; ')}`] : []),
    ...(states < fewest
      ? [`A whole search goes through at least ${count(fewest)} states: this one lacks scenarios`]
      : []),
  ];
}

const fewest = 5_000_000;

function columns(name: string, ...numbers: readonly string[]): string {
  const widths = [10, 12, 6, 11, 9, 9];
  return `${name.padEnd(40)}${numbers.map((text, index) => text.padStart(widths[index] ?? 10)).join('')}`;
}

export function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
