import { quotaBackendBytes } from '../../../../../manifests/render/quota.ts';
import { isAdopting } from '../../../know/adoption/inherited.ts';
import { act, type Decision } from '../../../know/decision.ts';
import { outOfSpace } from '../../../know/outage.ts';
import type { Situation } from '../../../know/situation.ts';
import { isOutOfSpace } from '../../../know/space/databases.ts';
import type { Inputs } from '../../../know/spec/inputs.ts';
import { meanwhile, restartOf } from '../../restarting.ts';
import { reluctance } from '../rolling/roll-configuration.ts';

/**
 * etcd is out of space, and the spec, or a volume that has grown, allows a larger quota than members run with: they get
 * the quota, and nothing else of a commit. That ends an outage, so it waits for no window, room or backup. Members that
 * are about to hibernate need none; while an adoption is unfinished, they do not hibernate.
 *
 * Guards I1: one member at a time, the leader last.
 */
export function raiseQuota(situation: Situation): Decision | undefined {
  const { slots, effective } = situation;
  if (!isOutOfSpace(slots) || (effective.replicas === 0 && !isAdopting(situation))) return undefined;
  const [next] = slots
    .flatMap((slot) => {
      const { peer, pod } = slot;
      if (!peer?.current) return [];
      const inputs = withQuota(peer.inputs, situation);
      const isBehind = (pod?.quota ?? quotaBackendBytes(peer.inputs)) < quotaBackendBytes(inputs);
      return isBehind ? [{ slot, uid: peer.uid, inputs }] : [];
    })
    .toSorted((a, b) => reluctance(a.slot, situation) - reluctance(b.slot, situation));
  if (!next) return undefined;
  const { slot, uid, inputs } = next;
  const restart = restartOf(slot, situation);
  const anew = restart ? `, and is restarted${meanwhile(situation)}` : '';
  return act(
    { kind: 'change-template', peer: { name: slot.name, uid }, inputs, ...(restart && { restart }) },
    'NoSpace',
    `${outOfSpace}: ${slot.name} gets the larger quota that it may have now${anew}`,
  );
}

function withQuota(inputs: Inputs, { effective }: Situation): Inputs {
  const { quotaBackendBytes: _, ...etcd } = inputs.etcd ?? {};
  const quota = effective.inputs.etcd?.quotaBackendBytes;
  return { ...inputs, etcd: { ...etcd, ...(quota !== undefined && { quotaBackendBytes: quota }) } };
}
