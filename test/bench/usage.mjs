// Preloaded into a measured process: on exit it says, on file descriptor 3, what the process used.
import { readFileSync, writeSync } from 'node:fs';

process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const cpuMilliseconds = (userCPUTime + systemCPUTime) / 1000;
  writeSync(3, JSON.stringify({ cpuMilliseconds, peakMegabytes: peakKilobytes() / 1024 }));
});

// Not `maxRSS`: exec(2) hands that on, so a child never has less than the process that started it had.
function peakKilobytes() {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  if (kilobytes === undefined) throw new Error('/proc/self/status does not say VmHWM');
  return Number(kilobytes);
}
