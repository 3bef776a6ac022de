import type { Mutant } from '../mutant.ts';

const flags = 'manifests/api/reserved-flags.ts';
const defects = 'manifests/api/version-defects.ts';
const facts = 'test/unit/manifests/reserved-flags.test.ts';
const goesOn = 'reconcile/cluster/decide/what-may-go-on.ts';
const going = 'test/unit/cluster/what-may-go-on.test.ts';

/** Rows of tables, one of each kind: `npm run mutants -- --propose tables` takes out the others. */
export const ofFacts: readonly Mutant[] = [
  {
    file: flags,
    from: "  'unsafe-no-fsync': 'acknowledged writes would be lost',\n",
    to: '',
    without: 'extraArgs may set a flag that loses writes',
    killers: [facts],
  },
  {
    file: flags,
    from: "  'initial-': 'bootstrap is recorded once and sealed',\n",
    to: '',
    without: 'extraArgs may set how a member is born, whatever its seal says (I5)',
    killers: [facts],
  },
  {
    file: flags,
    from: "  LeaseCheckpointPersist: 'experimental-enable-lease-checkpoint-persist',\n",
    to: '',
    without: 'a gate has two values on 3.5: that of its field, and that of its flag',
    killers: [facts],
  },
  {
    file: flags,
    from: "['InitialCorruptCheck', 'CompactHashCheck']",
    to: "['InitialCorruptCheck']",
    without: 'data that differ are found at the start of a member alone',
    killers: [facts],
  },
  {
    file: flags,
    from: 'if (Object.hasOwn(reservedFlags, flag)) return reservedFlags[flag];',
    to: 'if (flag in reservedFlags) return reservedFlags[flag];',
    without: 'a flag is reserved that has the name of what every object has',
    killers: [facts],
  },
  {
    file: defects,
    from: "    fixedIn: { '3.5': 23, '3.6': 5 },\n    mustNotRun: true,\n",
    to: "    fixedIn: { '3.5': 23, '3.6': 5 },\n",
    without: 'a version that corrupts data may be chosen',
    killers: [facts],
  },
  {
    file: defects,
    from: "fixedIn: { '3.6': 4 },",
    to: "fixedIn: { '3.6': 3 },",
    without: 'the last patch that panics after a replacement may be chosen',
    killers: [facts],
  },
  {
    file: defects,
    from: "fixedIn: { '3.5': 32, '3.6': 13 },",
    to: "fixedIn: { '3.6': 13 },",
    without: 'one minor of a defect is forgotten',
    killers: [facts],
  },
  {
    file: 'reconcile/jobs/failure.ts',
    from: "  Mismatch: 'defect',\n",
    to: "  Mismatch: 'retry',\n",
    without: 'a backup that differs from what was taken is tried again, and no person is told',
    killers: ['test/unit/backup/failures.test.ts'],
  },
  {
    file: 'reconcile/jobs/failure.ts',
    from: "  Unreachable: 'retry',\n",
    to: "  Unreachable: 'person',\n",
    without: 'a store that is away for a minute waits for a person',
    killers: ['test/unit/backup/failures.test.ts'],
  },
  {
    file: 'reconcile/backup/stores/s3/s3-failures.ts',
    from: "  'AuthorizationHeaderMalformed',\n",
    to: '',
    without: 'a bucket in another region is told as a key that is wrong',
    killers: ['test/unit/backup/s3-words.test.ts'],
  },
  {
    file: 'reconcile/clients/etcd-errors.ts',
    from: "  ['too many learner members in cluster', 'TooManyLearners'],\n",
    to: '',
    without: 'why etcd refuses a second learner is not known',
    killers: ['test/unit/clients/etcd-errors.test.ts'],
  },
  {
    file: goesOn,
    from: '  [enlargeVolumes, () => besides],\n',
    to: '',
    without: 'a volume that can not grow holds up all that stands below it',
    killers: [going],
  },
  {
    file: goesOn,
    from: '[outliveVolume, heal, dropInherited, letRemovedGo, dropLearner, join]',
    to: '[outliveVolume, heal, letRemovedGo, dropLearner, join]',
    without: 'one of the others is removed while the removal of another member may still be applied (I2)',
    killers: [going],
  },
  {
    file: goesOn,
    from: "  'wake-members',\n",
    to: '',
    without: 'members that fail to wake are left to the ticks',
    killers: [going],
  },
  {
    file: 'reconcile/cluster/know/set-aside.ts',
    from: "  'revision',\n",
    to: '',
    without: 'what etcd refused is tried again as often as a client writes',
    killers: ['test/unit/cluster/set-aside.test.ts'],
  },
  {
    file: 'reconcile/cluster/decide/rules/birth/adopt.ts',
    from: '  releasing: true,\n',
    to: '  releasing: false,\n',
    without: 'a member that was to leave, and never did, is not started again with its cluster',
    killers: ['test/unit/cluster/adopt-and-start.test.ts'],
  },
  {
    file: 'reconcile/cluster/act/actions/birth/seal-members.ts',
    from: "'joining', 'recovered', 'restored']",
    to: "'joining', 'recovered']",
    without: 'a cluster that began from a snapshot is never sealed',
    killers: ['test/unit/cluster/actions/volumes.test.ts'],
  },
  {
    file: 'reconcile/cluster/act/actions/recovery/stop-members.ts',
    from: "new Set(['recovering', 'recovered'])",
    to: "new Set(['recovering'])",
    without: 'members that came back after a recovery are not stopped before its new life begins (I10)',
    killers: ['test/unit/cluster/actions/recovery.test.ts'],
  },
  {
    file: 'reconcile/cluster/know/membership/learners-time.ts',
    from: "  'PodRefused',\n",
    to: '',
    without: 'a learner whose pod a quota refuses is removed and added for ever',
    killers: ['test/unit/cluster/learners-time.test.ts'],
  },
];
