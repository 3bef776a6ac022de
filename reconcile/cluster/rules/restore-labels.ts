import { labels, podName, podSelector } from '../../../manifests/build/names.ts';
import type { LabelledRef } from '../actions.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse } from '../decision.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';

const kinds = {
  peer: 'EtcdPeer',
  volume: 'PersistentVolumeClaim',
  configMap: 'ConfigMap',
  statefulSet: 'StatefulSet',
} as const satisfies Record<LabelledRef['of'], string>;

/**
 * Objects of ours that a backup tool or a policy engine took our labels off get them back. Until then they are read by name, and
 * count as what they are. What can't be known to be ours is left alone: later rules name it.
 *
 * Guards I4: a list by label that lacks an object says nothing about the object.
 */
export function restoreLabels({ slots }: Situation): Decision | undefined {
  const objects = slots.flatMap(unlabelledOf);
  if (objects.length === 0) return undefined;
  const what = objects.map(({ of, name }) => `${kinds[of]} ${name}`).join(', ');
  return act(
    { kind: 'restore-labels', objects },
    'RestoringLabels',
    `putting the labels back on ${what}: something other than etcd-ratchet took them off`,
  );
}

function unlabelledOf(slot: Slot): readonly LabelledRef[] {
  const { name, peer, configMap, statefulSet, volume, late } = slot;
  const owned = Object.entries({ peer, configMap, statefulSet }).flatMap(([of, view]) =>
    view?.unlabelled && view.current && !view.leaving ? [{ of: of as LabelledRef['of'], name, uid: view.uid }] : [],
  );
  const claim = volume ?? late;
  const isOurs = claim?.unlabelled && !claim.leaving && recordOf({ volume: claim }) !== undefined;
  return [...owned, ...(isOurs ? [{ of: 'volume' as const, name, uid: claim.uid }] : [])];
}

/**
 * A pod's labels are not ours to write: who may write pods may change what runs in them. Without them it serves, but no Service and no
 * disruption budget counts it.
 */
export function nameUnlabelledPods({ slots, cluster }: Situation): Decision | undefined {
  const bare = slots.find(({ pod }) => pod?.unlabelled && !pod.leaving);
  if (!bare) return undefined;
  const clusterName = cluster.metadata.name;
  const wanted = { [labels.managedBy]: 'etcd-ratchet', ...podSelector(clusterName), [labels.peer]: bare.name };
  const words = Object.entries(wanted).map(([key, value]) => `${key}=${value}`);
  return refuse(
    'PodUnlabelled',
    `pod ${podName(bare.name)} lacks labels that the Services, the disruption budget and etcd-ratchet find it by; it runs, and may get no clients`,
    `kubectl -n ${cluster.metadata.namespace} label --overwrite pod ${podName(bare.name)} ${words.join(' ')}`,
  );
}
