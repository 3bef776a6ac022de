/** Every reason of a schedule's conditions: one closed table, from which its conditions and documents follow. */

interface ScheduleMeaning {
  readonly means: string;
  /** What a person does about it. Absent: nothing. Then the schedule is as it should be. */
  readonly cure?: string;
}

export const scheduleMeanings = {
  Scheduled: { means: 'Backups begin when they are due.' },
  Suspended: { means: '`spec.suspend` is true: no backup begins.' },
  InvalidSchedule: {
    means: "The schedule, its time zone or the name of its objects can't be understood. No backup begins.",
    cure: 'Correct the field that the message names.',
  },
  StartRefused: {
    means: 'The API server refuses the EtcdBackup that is due, or the Job of the retention.',
    cure: 'Do what the message asks: mostly a right, a quota or a policy is in the way. It is tried again with every tick.',
  },
  BackupTooOld: {
    means: 'No backup was proven within `spec.maxAge`.',
    cure: 'Look at the newest EtcdBackups of this schedule: their messages say what keeps them from being good.',
  },
  BackupStuck: {
    means: 'A backup is due and was begun, and waits for a person. With `concurrencyPolicy: Forbid` no other begins.',
    cure: 'Do what the message of that EtcdBackup asks; or delete it: the next one is made when it is due.',
  },
  LastBackupFailed: {
    means: 'The newest backup that is over was not proven. Older ones are as they were.',
    cure: 'Read the message of the EtcdBackup that is named. The next one is made when it is due.',
  },
  RetentionFailed: {
    means: 'Old backups could not be deleted. New ones are made all the same.',
    cure: 'Do what the message asks: mostly the credentials may not list or delete. It runs again after the next backup.',
  },
} as const satisfies Record<string, ScheduleMeaning>;

export type ScheduleReason = keyof typeof scheduleMeanings;

export function needsPerson(reason: ScheduleReason): boolean {
  const meaning: ScheduleMeaning = scheduleMeanings[reason];
  return meaning.cure !== undefined;
}
