import { act, type Decision, wait } from '../../../know/decision.ts';
import type { DiskLogView } from '../../../know/observation.ts';
import { type LogToRead, logOf, logsToRead } from '../../../know/recovery/disk-logs.ts';
import type { Loss } from '../../../know/recovery/lost.ts';
import { entryFor } from '../../../know/set-aside.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * A person decides when it is known what is on each disk, and an approval fits only what was read there. What can't be
 * read is said, and holds nothing up.
 */
export function readLogs(loss: Loss, { life, refused }: Situation): Decision | undefined {
  if (life.stage !== 'born' || life.clusterId === undefined) return undefined;
  const wanted = logsToRead(loss).map((one) => ({ ...one, log: loggedBy(one.name, loss) }));
  const open = wanted.filter((one) => !one.log && !entryFor(reading([one]), refused));
  const whole = entryFor(reading(open), refused) ? open.slice(0, 1) : open;
  if (whole.length > 0) return act(reading(whole), 'ReadingLogs', inWords(whole));
  const underWay = wanted.filter(({ log }) => log?.kind === 'reading');
  if (underWay.length === 0) return undefined;
  return wait('ReadingLogs', inWords(underWay), { on: 'change', of: 'pods' }, { on: 'time', afterSeconds: 2 });
}

function reading(logs: readonly LogToRead[]) {
  const members = logs.map(({ peer, situation }) => ({ ...peer, situation }));
  return { kind: 'read-logs', members } as const;
}

function inWords(logs: readonly LogToRead[]): string {
  const jobs = logs.map(({ job }) => `Job ${job}`).join(', ');
  return `the quorum is lost; ${jobs}: the log on the disk of each member that is left is read, to show what it has`;
}

function loggedBy(name: string, loss: Loss): DiskLogView | undefined {
  const voter = [...loss.survivors, ...loss.silent].find((one) => one.name === name);
  return voter && logOf(voter, loss);
}
