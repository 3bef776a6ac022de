import Type, { type Static } from 'typebox';
import { dnsLabel, durationBetween } from './common-rules.ts';
import { longestCron } from './cron.ts';
import { longestDurationText } from './duration.ts';
import { backupFieldRules, backupFields } from './etcd-backup.ts';
import { type CustomResource, conditionsSchema } from './metadata.ts';
import { celEscape, type Rule, rule } from './rule.ts';
import { int32, keepsDefault, list, object, type ReadonlyDeep, text, time } from './schema.ts';
import { scheduleDefaults } from './spec-defaults.ts';
import { etcdId, failureFields, observedGeneration } from './status-fields.ts';
import { isCron, isTimeZone } from './time-rules.ts';

/** Backups again and again, and which of them are kept. */

function count(description: string) {
  return Type.Optional(int32({ minimum: 0, maximum: 10_000, description }));
}

interface Retention {
  readonly last?: number;
  readonly hourly?: number;
  readonly daily?: number;
  readonly weekly?: number;
  readonly monthly?: number;
}

const counts = ['last', 'hourly', 'daily', 'weekly', 'monthly'] as const;

const retentionSchema = object(
  {
    last: count('The newest.'),
    hourly: count('One for each of the newest hours that have one: the newest verified one, or else the newest.'),
    daily: count('One for each of the newest days that have one.'),
    weekly: count('One for each of the newest weeks that have one. They begin on Monday.'),
    monthly: count('One for each of the newest months that have one.'),
    mode: Type.Optional(
      Type.Enum(['Delete', 'DryRun'], {
        default: scheduleDefaults.retentionMode,
        description: 'DryRun: nothing is deleted, and status.retention says what would go.',
      }),
    ),
  },
  {
    description:
      "What is kept of this schedule's backups in the store, by its time zone. It counts for each cluster ID by itself, and the newest one and the newest verified one of each always are kept. Absent: nothing is ever deleted.",
    rules: [
      rule<Retention>({
        message: 'keeps nothing: set at least one of last, hourly, daily, weekly and monthly to 1 or more',
        cel: counts.map((name) => `(has(self.${name}) && self.${name} > 0)`).join(' || '),
        holds: (retention) => counts.some((name) => (retention[name] ?? 0) > 0),
      }),
    ],
  },
);

const differs = /[{][{] *(timestamp|name|uid) *[}][}]/;

const namesDiffer = rule<{ readonly to: { readonly object: string } }>({
  message: 'gives all backups one name, and none replaces another: put {{timestamp}} into to.object',
  cel: `self.to.object.matches('${celEscape(differs.source)}')`,
  holds: ({ to }) => differs.test(to.object),
  fieldPath: '.to.object',
});

export const etcdBackupScheduleSpecSchema = object({
  schedule: text(longestCron, {
    minLength: 1,
    description:
      'When: minute hour day month weekday, like "30 2 * * *"; or @hourly, @daily, @weekly, @monthly, @yearly.',
    rules: [isCron],
  }),
  timeZone: Type.Optional(
    text(64, {
      default: scheduleDefaults.timeZone,
      description:
        'Of the IANA database. Where clocks change, a time of day is neither left out nor due twice: one that does not exist is due at the first one that does.',
      rules: [isTimeZone],
    }),
  ),
  startingDeadline: Type.Optional(
    text(longestDurationText, {
      description:
        'How late a backup may begin. Of those that were missed, the last one is caught up, once. Absent: however late.',
      rules: [durationBetween('10s', '8760h')],
    }),
  ),
  concurrencyPolicy: Type.Optional(
    Type.Enum(['Forbid', 'Replace', 'Allow'], {
      default: scheduleDefaults.concurrencyPolicy,
      description:
        'What is done while an earlier backup of this schedule is under way. Forbid: nothing, until it is over. Replace: it is given up. Allow: a second one begins, and both load the cluster.',
    }),
  ),
  suspend: Type.Optional(
    Type.Boolean({
      default: false,
      keepsDefault,
      description: 'No backup begins. What is under way ends, and retention goes on.',
    }),
  ),
  retention: Type.Optional(retentionSchema),
  maxAge: Type.Optional(
    text(longestDurationText, {
      description:
        'How old the newest good backup may be. Beyond it, Ready is False (BackupTooOld), whatever the cause. Absent: however old.',
      rules: [durationBetween('1m', '8760h')],
    }),
  ),
  history: Type.Optional(
    object(
      {
        good: Type.Optional(
          int32({
            minimum: 1,
            maximum: 100,
            default: scheduleDefaults.history.good,
            description: 'Of those that were good.',
          }),
        ),
        failed: Type.Optional(
          int32({
            minimum: 0,
            maximum: 100,
            default: scheduleDefaults.history.failed,
            description: 'Of those that failed.',
          }),
        ),
      },
      { description: 'How many finished EtcdBackups are kept. That deletes nothing in the store: see retention.' },
    ),
  ),
  template: object(backupFields, {
    description: 'The spec of each EtcdBackup.',
    rules: [...backupFieldRules, namesDiffer],
  }),
});

const goodSchema = object(
  {
    name: text(253, { description: 'Of the EtcdBackup, which may be gone meanwhile.' }),
    object: text(1100, { description: 'The whole name of the object in the store.' }),
    takenAt: time({ description: 'When its member began to send it. maxAge counts from here.' }),
    verifiedAt: Type.Optional(time({ description: 'Absent: verify is Trailer.' })),
    clusterID: Type.Optional(etcdId),
  },
  { description: 'The newest backup that was proven as its template asks.' },
);

const retentionStatusSchema = object(
  {
    after: text(253, { description: 'The EtcdBackup after which it ran.' }),
    at: time({ description: 'When it began.' }),
    finishedAt: Type.Optional(time({ description: 'When it was over. Absent: it is under way.' })),
    dryRun: Type.Optional(Type.Boolean({ description: 'Nothing was deleted: retention.mode was DryRun.' })),
    kept: Type.Optional(int32({ minimum: 0, description: 'Backups of this schedule that are in the store.' })),
    earlierLives: Type.Optional(
      int32({ minimum: 0, description: 'Of those: what holds a cluster with another ID than the newest one.' }),
    ),
    removed: Type.Optional(int32({ minimum: 0, description: 'Backups that went; with dryRun, that would go.' })),
    left: Type.Optional(int32({ minimum: 0, description: 'Backups that are to go, and are left to the next run.' })),
    locked: Type.Optional(int32({ minimum: 0, description: 'Of those: what the store locks, as by Object Lock.' })),
    names: Type.Optional(list(text(1100), 20, { description: 'The first of those that went or would go.' })),
    others: Type.Optional(int32({ minimum: 0, description: 'Objects under the prefix that are none of its own.' })),
    failure: Type.Optional(
      object(
        {
          ...failureFields,
        },
        { description: 'Why it did not come to its end.' },
      ),
    ),
  },
  { description: 'The last run of retention.' },
);

export const etcdBackupScheduleStatusSchema = object({
  observedGeneration,
  nextAt: Type.Optional(time({ description: 'When the next backup is due. Absent: it is suspended, or never.' })),
  lastAt: Type.Optional(time({ description: 'When the last backup that began was due.' })),
  lastName: Type.Optional(text(253, { description: 'Its name.' })),
  active: Type.Optional(list(text(253), 100, { description: 'EtcdBackups that are under way.' })),
  lastGood: Type.Optional(goodSchema),
  retention: Type.Optional(retentionStatusSchema),
  conditions: Type.Optional(conditionsSchema),
});

/** Its EtcdBackups are named `<name>-202611230230`, and may have 52 characters. */
const longestName = 39;

export const etcdBackupScheduleRules: readonly Rule[] = [
  rule<{ metadata: { name: string } }>({
    message: `metadata.name must be at most ${longestName} characters, lower-case letters, digits and "-": backups are named after it`,
    cel: `size(self.metadata.name) <= ${longestName} && self.metadata.name.matches('${celEscape(dnsLabel)}')`,
    holds: ({ metadata }) => metadata.name.length <= longestName && new RegExp(dnsLabel).test(metadata.name),
    fieldPath: '.metadata.name',
  }),
];

export type EtcdBackupScheduleSpec = ReadonlyDeep<Static<typeof etcdBackupScheduleSpecSchema>>;
export type EtcdBackupScheduleStatus = ReadonlyDeep<Static<typeof etcdBackupScheduleStatusSchema>>;

export type EtcdBackupSchedule = CustomResource<'EtcdBackupSchedule', EtcdBackupScheduleSpec, EtcdBackupScheduleStatus>;
