import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import { judgeBackup } from '../../../reconcile/cluster/know/backups/fitness.ts';
import { backupAskedFor } from '../../../reconcile/cluster/know/backups/rollback.ts';
import type { NamedBackup, Observation } from '../../../reconcile/cluster/know/observation.ts';
import type { MadeBackup } from './backup-state.ts';
import type { World } from './state.ts';

/** EtcdBackups that people name for a rollback. What takes them, and the store, are left out. */

/** Of which etcd cluster the data in each object truly are. */
export const dataOf = {
  'gs://backups/orders/a.db': 'c-token1cluster-1',
  'gs://backups/orders/c.db': 'c-ofanother',
} as const satisfies Readonly<Record<MadeBackup['object'], string>>;

export function made(name: string, { object, ready }: Pick<MadeBackup, 'object' | 'ready'>): MadeBackup {
  return { name, uid: `uid-of-${name}`, object, ready };
}

/** As `observe` reads it. */
export function namedIn(
  { named }: World,
  seen: Pick<Observation, 'cluster' | 'slots'>,
): readonly NamedBackup[] | undefined {
  const asked = named && backupAskedFor(seen);
  if (!asked || 'recorded' in asked) return undefined;
  const { name } = asked;
  const found = named?.find((one) => one.name === name);
  const view = judgeBackup({ name }, found && resourceOf(found));
  // IDs of this world are no hexadecimal.
  if (view.kind === 'unfit' || !found) return [view];
  return [{ ...view, backup: { ...view.backup, clusterId: dataOf[found.object] } }];
}

function resourceOf({ name, uid, object, ready }: MadeBackup): EtcdBackup {
  const said = { reason: 'Told', message: 'as it went', lastTransitionTime: '2026-01-02T01:00:00Z' };
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: { name, uid },
    spec: { clusterName: 'orders', to: { object } },
    status: {
      observedGeneration: 1,
      object,
      sha256: 'ab'.repeat(32),
      clusterID: 'beef',
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', ...said }],
    },
  };
}

export function namedGo(world: World): World | undefined {
  return world.named && world.named.length > 0 ? { ...world, named: [] } : undefined;
}

/** It is Ready, and was not; or the other way round. */
export function namedTurn(world: World): World | undefined {
  return eachOf(world, (one) => ({ ...one, ready: !one.ready }));
}

/** Under the same name: of another etcd cluster. */
export function namedAnew(world: World): World | undefined {
  return eachOf(world, ({ name }) => ({
    name,
    uid: `new-uid-of-${name}`,
    object: 'gs://backups/orders/c.db',
    ready: true,
  }));
}

function eachOf(world: World, change: (one: MadeBackup) => MadeBackup): World | undefined {
  return world.named && world.named.length > 0 ? { ...world, named: world.named.map(change) } : undefined;
}
