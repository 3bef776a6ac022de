import type { Mutant } from '../mutant.ts';

const decides = 'test/unit/backup/decide.test.ts';
const says = 'test/unit/backup/said.test.ts';
const states = 'test/unit/backup/job-state.test.ts';
const memberVolumes = 'test/unit/backup/member-volume.test.ts';
const scratches = 'test/unit/backup/scratch.test.ts';
const looks = 'test/integration/backup/look.test.ts';
const steps = 'test/unit/backup/step.test.ts';
const hostile = 'test/unit/backup/hostile-store.test.ts';
const staged = 'test/integration/backup/staged.test.ts';
const bolt = 'test/unit/backup/bolt.test.ts';
const diskLogs = 'test/unit/backup/disk-log.test.ts';

/** What a backup is believed by, and what keeps two Jobs of one attempt apart. */
export const ofBackups: readonly Mutant[] = [
  {
    file: 'reconcile/backup/agent/staged-restore.ts',
    from: 'if (found !== undefined) requireNoNewer',
    to: 'if (found === "") requireNoNewer',
    without: 'a snapshot of a newer minor that has no record is restored',
    killers: [staged],
  },
  {
    file: 'reconcile/backup/agent/bolt.ts',
    from: 'depth < deepest',
    to: 'depth < Number.POSITIVE_INFINITY',
    without: 'a snapshot whose pages lead in a circle is read for ever',
    killers: [bolt],
  },
  {
    file: 'reconcile/backup/agent/bolt.ts',
    from: 'return size > largestPage ? undefined : bytesAt',
    to: 'return bytesAt',
    without: 'a snapshot that says so has a page of many GiB read',
    killers: [bolt],
  },
  {
    file: 'reconcile/backup/agent/wal-file.ts',
    from: 'if (size > largestRecord) throw',
    to: 'if (size < 0) throw',
    without: 'a disk that says so has a record of many GiB read',
    killers: [diskLogs],
  },
  {
    file: 'reconcile/backup/agent/wal-file.ts',
    from: 'isNewest && isTorn(',
    to: 'isTorn(',
    without: 'a log that is damaged in its middle passes for one that ends there',
    killers: [diskLogs],
  },
  {
    file: 'reconcile/backup/agent/disk-log.ts',
    from: 'snapshot && snapshot.index <= state.commit',
    to: 'snapshot',
    without: 'a snapshot that never arrived in whole counts as the end of the log',
    killers: [diskLogs],
  },
  {
    file: 'reconcile/backup/agent/read-small.ts',
    from: '    if (bytes > mostBytes)',
    to: '    if (bytes < 0)',
    without: 'a record that never ends fills the memory',
    killers: [hostile],
  },
  {
    file: 'reconcile/backup/agent/fetch.ts',
    from: '    if (bytes > most) throw',
    to: '    if (bytes < 0) throw',
    without: 'a small archive fills the volume',
    killers: [hostile],
  },
  {
    file: 'reconcile/backup/agent/fetch.ts',
    from: '    if (bytes > free / 2)',
    to: '    if (bytes < 0)',
    without: 'a small archive without a record fills the volume',
    killers: [hostile],
  },
  {
    file: 'reconcile/backup/agent/kept.ts',
    from: '    throw error;\n',
    to: '',
    without: 'a backup whose source failed is stored as if it were whole',
    killers: ['test/unit/backup/pieces.test.ts'],
  },
  {
    file: 'reconcile/backup/agent/kept.ts',
    from: '    failed(error);\n',
    to: '',
    without: 'a source that failed is told in the words of a stream',
    killers: ['test/unit/backup/pieces.test.ts'],
  },
  {
    file: 'reconcile/backup/agent/own-backups.ts',
    from: 'seen += 1;',
    to: 'seen = listed.size;',
    without: 'a list of one name without end is read for ever',
    killers: [hostile],
  },
  {
    file: 'reconcile/backup/stores/transfer.ts',
    from: 'if (next === undefined || next !== read) return next;',
    to: 'return next;',
    without: 'a list whose pages lead in a circle is read for ever',
    killers: [hostile],
  },
  {
    file: 'reconcile/backup/stores/azure/azure-failures.ts',
    from: "statusOf(error) === 404 && codeOf(error) !== 'ContainerNotFound'",
    to: 'statusOf(error) === 404',
    without: 'an object counts as deleted where its container is missing',
    killers: ['test/unit/backup/azure-absent.test.ts'],
  },
  {
    file: 'reconcile/backup/decide.ts',
    from: 'id === metadata.uid;',
    to: 'id !== metadata.name;',
    without: 'the record of another EtcdBackup makes this one good',
    killers: [decides],
  },
  {
    file: 'reconcile/backup/decide.ts',
    from: 'return existing ? sha256 === existing.sha256',
    to: 'return existing ? sha256 !== ""',
    without: 'a look that found another object counts as that of the one that was asked for',
    killers: [decides],
  },
  {
    file: 'reconcile/backup/agent/look.ts',
    from: 'if (bytes === record.bytes && found === sha256) return record;',
    to: 'if (bytes === record.bytes) return record;',
    without: 'an object whose bytes have changed counts as what was stored',
    killers: [looks],
  },
  {
    file: 'reconcile/backup/agent/look.ts',
    from: 'requireSame(object, record.sha256, sha256);',
    to: '',
    without: 'an object whose record is of another backup counts as what was stored',
    killers: [looks],
  },
  {
    file: 'reconcile/backup/decide.ts',
    from: ' || record.object !== job.object)',
    to: ')',
    without: "the record of another object than the Job's is believed",
    killers: [decides],
  },
  {
    file: 'reconcile/backup/decide.ts',
    from: "if (attempt.stage !== 'Verify')",
    to: 'if (attempt === undefined)',
    without: 'a backup counts as verified that was only to be taken',
    killers: [decides],
  },
  {
    file: 'reconcile/backup/orders.ts',
    from: 'if (!canBeRead(available) || voters.length === 0)',
    to: 'if (voters.length === 0)',
    without: 'a backup is begun of a cluster that has no quorum',
    killers: [decides],
  },
  {
    file: 'reconcile/backup/decision.ts',
    from: ' && attempt.number < maxAttempts) {',
    to: ') {',
    without: 'what fails is tried for ever',
    killers: [decides],
  },
  {
    file: 'reconcile/backup/job-state.ts',
    from: "(spoken.kind === 'failure' || isDone)",
    to: 'spoken',
    without: 'the success of a pod whose Job failed is believed',
    killers: [states],
  },
  {
    file: 'reconcile/backup/job-state.ts',
    from: 'if (name === drillContainers.restore || name === drillContainers.etcd) return [];',
    to: '',
    without: "what etcd prints is taken for the agent's word",
    killers: [states],
  },
  {
    file: 'reconcile/backup/said.ts',
    from: 'isVersion(etcdVersion) &&',
    to: '',
    without: 'a termination message chooses the image of the next pod',
    killers: [says],
  },
  {
    file: 'reconcile/backup/said.ts',
    from: 'if (message.length > longest) return undefined;',
    to: '',
    without: 'a termination message of any length is parsed',
    killers: [says],
  },
  {
    file: 'reconcile/backup/act.ts',
    from: "if (found && isControlledBy(found, backup.metadata.uid ?? ''))",
    to: 'if (found)',
    without: 'a Job of another owner is told of as ours',
    killers: [steps],
  },
  {
    file: 'reconcile/backup/settle.ts',
    from: '!isControlledBy(job, uid) || ',
    to: '',
    without: "another's Job goes that has the name of a drill",
    killers: [scratches],
  },
  {
    file: 'reconcile/backup/step.ts',
    from: 'if (backup.status?.settled ||',
    to: 'if (backup.status?.finishedAt ||',
    without: 'a volume stays whose invocation was ended once it had told the result',
    killers: [scratches],
  },
  {
    file: 'reconcile/backup/act.ts',
    from: "if (decision.kind === 'retry' && stage === 'Verify'",
    to: "if (decision.kind === 'rest' && stage === 'Verify'",
    without: 'each failed drill keeps its volume until the next one begins',
    killers: [scratches],
  },
  {
    file: 'reconcile/backup/decide.ts',
    from: '  if (onMember) return onMember;\n',
    to: '',
    without: "a backup is written among a member's data",
    killers: [memberVolumes],
  },
  {
    file: 'reconcile/cluster/act/requests/recovery.ts',
    from: '    await keepOffMembers(snapshot, live);\n',
    to: '',
    without: 'a restore mounts the volume of a member beside its etcd',
    killers: ['test/unit/cluster/actions/restore-on-member.test.ts'],
  },
  {
    file: 'reconcile/backup/delete-own.ts',
    from: "if (!isReason(error, 'Conflict')) throw error;",
    to: 'throw error;',
    without: 'a failed attempt is never told where another Job has its name by now',
    killers: ['test/unit/backup/step.test.ts'],
  },
  {
    file: 'reconcile/restore/awaited.ts',
    from: "return (reason === 'BackupNotReady' || reason === 'BackupAbsent') && !isThere;",
    to: "return (reason === 'BackupNotReady' || reason === 'BackupAbsent') && (isThere || !isThere);",
    without: 'a restore waits on beside a cluster of its name, and begins when that is deleted',
    killers: ['test/unit/restore/restores.test.ts'],
  },
  {
    file: 'reconcile/restore/awaited.ts',
    from: 'const turn = (minute + drawn) % turns;',
    to: 'const turn = (minute + drawn) % 1;',
    without: 'of many restores that wait some are never looked at',
    killers: ['test/unit/restore/restores.test.ts'],
  },
];
