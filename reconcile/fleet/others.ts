import { calledOf, type FleetObject, type OtherKind, otherKindOf } from './objects.ts';
import type { FleetPlan } from './plan.ts';

/** What a plan does about anything but clusters, whose steps are foreseen. */
export interface OtherChange {
  readonly kind: OtherKind;
  readonly namespace: string;
  readonly name: string;
  readonly intent: 'create' | 'update' | 'delete';
}

const effects = {
  EtcdBackup: {
    create: 'a backup is taken, once',
    update: 'it runs no second time',
    delete: 'it is forgotten; what it stored stays',
  },
  EtcdBackupSchedule: {
    create: 'backups are made by it',
    update: 'the next backups are made by it',
    delete: 'no backup is made by it any more; what it stored stays',
  },
  EtcdRestore: {
    create: 'it makes a cluster from a snapshot, once',
    update: 'it runs no second time',
    delete: 'it is forgotten; the cluster that it made stays',
  },
  EtcdNodePolicy: {
    create: 'nodes are rebooted by it',
    update: 'the next nodes are rebooted by it',
    delete: 'no node is rebooted by it any more',
  },
} as const satisfies Record<OtherKind, Record<OtherChange['intent'], string>>;

export function otherChanges({ applies, prune }: Pick<FleetPlan, 'applies' | 'prune'>): readonly OtherChange[] {
  const made = applies.flatMap(({ kind, spec }): readonly OtherChange[] => {
    const other = otherKindOf(spec.kind);
    if (other === undefined || kind === 'settled') return [];
    const intent = kind === 'create' ? 'create' : 'update';
    return [{ kind: other, namespace: spec.namespace, name: spec.name, intent }];
  });
  return [...made, ...prune.flatMap(deleted)];
}

function deleted({ kind, metadata }: FleetObject): readonly OtherChange[] {
  const other = otherKindOf(kind);
  return other === undefined
    ? []
    : [{ kind: other, namespace: metadata.namespace ?? '', name: metadata.name, intent: 'delete' }];
}

/** `EtcdBackup payments/orders: a backup is taken, once` */
export function describeOther(change: OtherChange): string {
  return `${calledOf(change.kind, change)}: ${effects[change.kind][change.intent]}`;
}
