import { clientServiceName, headlessServiceName } from '../../../manifests/build/names.ts';
import type { Situation } from '../decide.ts';
import { type Decision, refuse, wait } from '../decision.ts';
import { hasDeparted } from '../life.ts';

/**
 * Objects of a deleted namesake of this cluster are still being collected: wait until they are gone. What bears our labels
 * and has no owner of ours is never collected: a person must look.
 *
 * Guards I5 and the at-most-one-writer rule: an old pod may still write to the volume that a new member would open.
 */
export function awaitLeftovers(situation: Situation): Decision | undefined {
  const foreign = foreignObject(situation);
  if (foreign !== undefined) {
    return refuse(
      'NameTaken',
      `there is ${foreign} with our labels, and none of our resources controls it; it is left alone`,
      'delete it (no volume goes with it), or take our labels and its name away',
    );
  }
  const { slots, shared } = situation;
  const leaving = slots.find(isBeingCollected);
  if (leaving) {
    return wait(
      'OldObjectsLeaving',
      `objects named ${leaving.name} of an earlier resource are still being collected`,
      { on: 'change', of: 'pods' },
      { on: 'change', of: 'peers' },
      { on: 'change', of: 'statefulSets' },
      { on: 'time', afterSeconds: 2 },
    );
  }
  if (Object.values(shared).some(({ state }) => state === 'leftover')) {
    return wait('OldObjectsLeaving', 'Services of an earlier resource are still being collected', {
      on: 'time',
      afterSeconds: 1,
    });
  }
  return undefined;
}

function foreignObject({ cluster, slots, shared }: Situation): string | undefined {
  for (const { name, peer, configMap, statefulSet } of slots) {
    if (peer?.foreign) return `an EtcdPeer ${name}`;
    if (configMap?.foreign) return `a ConfigMap ${name}`;
    if (statefulSet?.foreign) return `a StatefulSet ${name}`;
  }
  const { name } = cluster.metadata;
  if (shared.headlessService.state === 'foreign') return `a Service ${headlessServiceName(name)}`;
  if (shared.clientService.state === 'foreign') return `a Service ${clientServiceName(name)}`;
  return shared.disruptionBudget.state === 'foreign' ? `a PodDisruptionBudget ${name}` : undefined;
}

/** What is left of a removed member stands in nobody's way: its name is not used again while anything bears it. */
function isBeingCollected(slot: Situation['slots'][number]): boolean {
  const { peer, volume, configMap, statefulSet, pod } = slot;
  if (hasDeparted(slot)) return false;
  // It goes with the claim that is gone, and nobody makes another one there.
  const goesAlone = peer?.current && peer.replacingVolume === undefined && !volume && configMap?.leaving === false;
  return (
    isLeftover(peer) ||
    (isLeftover(configMap) && !goesAlone) ||
    isLeftover(statefulSet) ||
    (pod !== undefined && statefulSet === undefined && peer === undefined)
  );
}

function isLeftover(view: { readonly current: boolean; readonly leaving: boolean } | undefined): boolean {
  return view !== undefined && (!view.current || view.leaving);
}
