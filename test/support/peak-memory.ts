import { readFileSync } from 'node:fs';

/**
 * The most memory that this process had at a time, in MiB.
 *
 * Not `maxRSS`: exec(2) hands that on, so a child never has less than the process that started it had.
 */
export function peakMebibytes(): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  if (kibibytes === undefined) throw new Error('/proc/self/status does not say VmHWM');
  return Number(kibibytes) / 1024;
}
