import { readFileSync } from 'node:fs';

/**
 * The most memory that a process had at a time, in MiB, files that it maps included; without a number this one.
 *
 * Not `maxRSS`: exec(2) hands that on, so a child never has less than the process that started it had.
 */
export function peakMebibytes(pid: number | 'self' = 'self'): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kibibytes === undefined) throw new Error(`/proc/${pid}/status does not say VmHWM`);
  return Number(kibibytes) / 1024;
}
