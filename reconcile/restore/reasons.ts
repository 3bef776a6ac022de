/** Every reason of a restore's conditions: one closed table, from which its conditions and documents follow. */

interface RestoreMeaning {
  readonly means: string;
  /** What a person does about it. Absent: nothing. */
  readonly cure?: string;
  /** Nothing more is done for it. */
  readonly isEnd?: true;
}

export const restoreMeanings = {
  Restoring: { means: 'The EtcdCluster is made, and is not Ready yet: its own status says what it does.' },
  Restored: { means: 'The EtcdCluster is Ready, with the data of the snapshot.', isEnd: true },
  BackupAbsent: {
    means: 'There is no EtcdBackup of that name in the namespace.',
    cure: 'Create it, or create another EtcdRestore that names the object itself in `spec.from`.',
  },
  BackupNotReady: {
    means:
      'The EtcdBackup is not Ready (it is not stored, or not proven), is being deleted, or its status does not say what it is of.',
    cure: 'Wait for it, name another one, or name the object itself in `spec.from`.',
  },
  SnapshotTooNew: {
    means: 'The backup is of a newer minor of etcd than `spec.cluster.spec.version`.',
    cure: 'Create another EtcdRestore with the version that the message names, or later.',
    isEnd: true,
  },
  ClusterExists: {
    means:
      'An EtcdCluster of that name exists, and this restore did not make it: it is left alone, and so is its name.',
    cure: 'Create another EtcdRestore with another `spec.cluster.name`. For the same name, delete that EtcdCluster first, then this EtcdRestore, and create it again.',
    isEnd: true,
  },
  ClusterLeaving: {
    means: 'An EtcdCluster of that name is being deleted. The restore begins when it is gone.',
  },
  ClusterRefused: {
    means: 'The API server refuses the EtcdCluster.',
    cure: 'Do what the message asks. It is tried again with every tick; a wrong spec takes another EtcdRestore.',
  },
  ClusterGone: {
    means: 'The EtcdCluster that this restore made was deleted. It is never made a second time.',
    cure: 'Create another EtcdRestore, if the cluster is wanted again.',
    isEnd: true,
  },
} as const satisfies Record<string, RestoreMeaning>;

export type RestoreReason = keyof typeof restoreMeanings;

function meaningOf(reason: RestoreReason): RestoreMeaning {
  return restoreMeanings[reason];
}

export function needsPerson(reason: RestoreReason): boolean {
  return meaningOf(reason).cure !== undefined;
}

export function isEnd(reason: RestoreReason): boolean {
  return meaningOf(reason).isEnd === true;
}
