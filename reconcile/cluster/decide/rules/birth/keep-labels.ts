import { labels, podName, podSelector } from '../../../../../manifests/render/names.ts';
import type { LabelledRef } from '../../../know/actions/birth.ts';
import { act, type Decision, type Refused, refuse } from '../../../know/decision.ts';
import { recordOf } from '../../../know/life.ts';
import type { Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';

const kinds = {
  peer: 'EtcdPeer',
  volume: 'PersistentVolumeClaim',
  configMap: 'ConfigMap',
  statefulSet: 'StatefulSet',
} as const satisfies Record<LabelledRef['of'], string>;

/**
 * A backup tool or a policy engine removed our labels from objects of this cluster: they are restored. Until then those
 * objects are read by name and count as what they are. Objects of unknown ownership are left alone: later rules name
 * them.
 *
 * Guards I4: a list by label that lacks an object says nothing about the object.
 */
export function keepLabels({ slots }: Situation): Decision | undefined {
  const objects = slots.flatMap(unlabelledOf);
  if (objects.length === 0) return undefined;
  const what = objects.map(({ of, name }) => `${kinds[of]} ${name}`).join(', ');
  return act(
    { kind: 'restore-labels', objects },
    'RestoringLabels',
    `restoring the labels of ${what}: something other than etcd-ratchet removed them`,
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
 * etcd-ratchet may not patch pods: that right would let it change what runs in them. A pod without labels serves, but
 * no Service and no disruption budget counts it.
 */
export function nameUnlabelledPods({ slots, cluster }: Situation): readonly Refused[] {
  const clusterName = cluster.metadata.name;
  return slots
    .filter(({ pod }) => pod?.unlabelled && !pod.leaving)
    .map(({ name }) => {
      const wanted = { [labels.managedBy]: 'etcd-ratchet', ...podSelector(clusterName), [labels.peer]: name };
      const words = Object.entries(wanted).map(([key, value]) => `${key}=${value}`);
      return refuse(
        'PodUnlabelled',
        `pod ${podName(name)} lacks labels by which the Services, the disruption budget and etcd-ratchet select it; it runs, and may get no clients`,
        `kubectl -n ${cluster.metadata.namespace} label --overwrite pod ${podName(name)} ${words.join(' ')}`,
      );
    });
}
