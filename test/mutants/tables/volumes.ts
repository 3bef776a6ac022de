import type { Mutant } from '../mutant.ts';

const volumes = 'test/unit/cluster/actions/volumes.test.ts';

/**
 * What an action looks at again just before it acts, and the order of its writes: volumes, births, sealing and starts.
 */
export const ofVolumes: readonly Mutant[] = [
  {
    file: 'reconcile/cluster/act/actions/birth/seal-members.ts',
    from: 'readAt: yield* writeRecord({ readAt, record: sealed })',
    to: 'readAt',
    without: 'a ConfigMap follows a volume that was not told yet that it is sealed (I5)',
    killers: [volumes],
  },
  {
    file: 'reconcile/cluster/act/actions/birth/start-members.ts',
    from: 'settings.initialCluster !== wanted.ETCD_INITIAL_CLUSTER ||',
    to: 'settings === null ||',
    without: 'a member is started with bootstrap settings that do not say what its volume says (I5)',
    killers: [volumes],
  },
  {
    file: 'reconcile/cluster/act/actions/birth/start-members.ts',
    from: "if (volume.record.state === 'bootstrapping') yield* noteFirstStart(volume, peer);\n  else yield*",
    to: 'yield*',
    without: 'a member is started for the first time on a volume that does not say so (I5)',
    killers: [volumes],
  },
  {
    file: 'reconcile/cluster/act/actions/rolling/next-version.ts',
    from: 'return yield* raiseBirth({ record, readAt }, version);',
    to: 'return;',
    without: 'a re-created resource starts members on a lower minor than they were born on (I6)',
    killers: ['test/unit/cluster/world/upgrade.test.ts'],
  },
  {
    file: 'reconcile/cluster/act/actions/birth/prepare-members.ts',
    from: 'if (made.existed) yield* takeNextAsRun(volume);',
    to: '',
    without:
      'a member of a re-created resource goes below what was told to it before, when its peer is there again (I6)',
    killers: [volumes],
  },
  {
    file: 'reconcile/cluster/act/actions/birth/seal-members.ts',
    from: '    ...startingOn(version, record),\n',
    to: '',
    without: 'a volume that is sealed while its member is told a higher version forgets that (I6)',
    killers: [volumes],
  },
  {
    file: 'reconcile/cluster/know/versions/versions-run.ts',
    from: ' || isStartedForAnother(record, peer)',
    to: '',
    without: 'a member of a re-created resource goes below what its volume may have run, before its pod is there (I6)',
    killers: ['test/unit/cluster/effective-version.test.ts'],
  },
  {
    file: 'reconcile/cluster/act/actions/membership/retire-member.ts',
    from: '    if (member) throw moved(',
    to: '    if (!listed) throw moved(',
    without: 'what a member has goes though the list has the member still (I4)',
    killers: [volumes],
  },
  {
    file: 'reconcile/cluster/act/actions/volumes/replace-unbound-volume.ts',
    from: "if (volume.uid !== uid || bound || record.state !== 'bootstrapping')",
    to: 'if (volume.uid !== uid)',
    without: 'a volume that has been bound, or sealed, since is made anew (I4)',
    killers: [volumes],
  },
  {
    file: 'reconcile/cluster/act/actions/volumes/delete-volumes.ts',
    from: 'if (!deleting && found.bound) throw',
    to: 'if (!deleting && !found) throw',
    without: 'a volume of a cluster that lives is deleted though it has been bound since (I4)',
    killers: [volumes],
  },
  {
    file: 'reconcile/cluster/act/actions/volumes/delete-volumes.ts',
    from: 'if (deleting && (yield* readPod({ name }))) throw',
    to: 'if (deleting && !(yield* readPod({ name })) && !found) throw',
    without: 'a volume is deleted while a pod has it (I4)',
    killers: [volumes],
  },
  {
    file: 'reconcile/cluster/act/actions/deletion/hibernate-members.ts',
    from: `    yield* each(volumes, (volume) => turn(volume, 'sealed', 'hibernating', backup));
    yield* each(statefulSets, deleteStatefulSet);
`,
    to: `    yield* each(statefulSets, deleteStatefulSet);
    yield* each(volumes, (volume) => turn(volume, 'sealed', 'hibernating', backup));
`,
    without: 'members are stopped before their volumes say that nothing was lost',
    killers: [volumes],
  },
  {
    file: 'reconcile/cluster/act/actions/membership/add-learner.ts',
    from: '    if (!isDeepStrictEqual(record.initialCluster, initialCluster))\n',
    to: `    if (!listed.some(({ peerURLs }) => peerURLs.includes(url))) {
      yield* addToList({ name, url, clusterId });
      return yield* writeRecord({ readAt, record: { ...record, initialCluster, clusterId } });
    }
    if (!isDeepStrictEqual(record.initialCluster, initialCluster))
`,
    without: 'a learner is on the list before its volume has that list',
    killers: [volumes],
  },
  {
    file: 'reconcile/cluster/act/actions/deletion/hibernate-members.ts',
    from: 'if (volume.uid !== uid) throw',
    to: "if (volume.uid === '') throw",
    without: 'a volume that was made anew since is told to sleep in the place of the one that was looked at (I7)',
    killers: ['test/unit/cluster/actions/volumes.test.ts'],
  },
  {
    file: 'reconcile/cluster/act/actions/deletion/hibernate-members.ts',
    from: '  if (record.state === to && isDeepStrictEqual(former, hibernationBackup)) return;\n',
    to: '',
    without: 'a volume is written again with what it says already',
    killers: ['test/unit/cluster/actions/volumes.test.ts'],
  },
  {
    file: 'reconcile/cluster/act/actions/deletion/hibernate-members.ts',
    from: 'if (record.state !== from && record.state !== to) throw',
    to: "if (record.state === 'restored') throw",
    without: 'the volume of a member that is being removed is told to sleep (I2)',
    killers: ['test/unit/cluster/actions/volumes.test.ts'],
  },
  {
    file: 'reconcile/cluster/foresee/host.ts',
    from: "kind === 'configMap' && made !== state ? onSlot(name, configuring)(made) : made",
    to: 'made',
    without: 'a plan takes a pod that waits for its ConfigMap as broken for good',
    killers: ['test/unit/cluster/other-disk.test.ts'],
  },
  {
    file: 'reconcile/cluster/foresee/host.ts',
    from: 'peer !== undefined && lacked ? onSlot(peer, mounting)(written) : written',
    to: 'written',
    without: 'a plan takes a pod that waits for its Secret as held up for good',
    killers: ['test/unit/cluster/plan.test.ts'],
  },
  {
    file: 'reconcile/cluster/foresee/host.ts',
    from: 'lacked ? { ...written, slots: slots.map(mounting) } : written',
    to: 'written',
    without: 'a plan takes a pod that waits for the list of refused clients as held up for good',
    killers: ['test/unit/cluster/plan.test.ts'],
  },
];
