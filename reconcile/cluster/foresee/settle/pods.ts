import { quotaBackendBytes } from '../../../../manifests/render/quota.ts';
import { isRefusing } from '../../know/certificates/stranger.ts';
import { isDownOnItsConfiguration } from '../../know/health/health.ts';
import type { ContainerView, Observation, PodView, Slot, VolumeView } from '../../know/observation.ts';
import { blockedBy } from '../../know/pods/blocked.ts';
import { isCrashing } from '../../know/pods/endings.ts';
import { create, type Effect, onSlot } from '../effect.ts';
import { madeFrom, rememberingItsTemplate, templateOf } from '../knowledge.ts';
import { notAskedSince } from './handshakes.ts';

/** The StatefulSet controller, the scheduler, the provisioner and the kubelet. */

function onEach(change: (slot: Slot, observation: Observation) => Slot): Effect {
  return (observation) => observation.slots.reduce((seen, { name }) => onSlot(name, change)(seen), observation);
}

/** A StatefulSet's controller has seen its template, and whether its pod was made from it. */
export const seeTemplates = onEach((slot) => {
  const { name, statefulSet, pod } = slot;
  if (!statefulSet?.current || (statefulSet.updateRevision !== '' && pod?.upToDate !== 'unknown')) return slot;
  const updateRevision = statefulSet.updateRevision || `${name}-${statefulSet.inputsHash.slice(0, 10)}`;
  return {
    ...slot,
    statefulSet: { ...statefulSet, updateRevision },
    ...(pod && { pod: { ...pod, upToDate: isUpToDate(slot, pod) ? 'yes' : 'no' } }),
  };
});

/** Where nothing remembers what a pod was made from, what it says of itself has to do. */
function isUpToDate(slot: Slot, pod: PodView): boolean {
  const made = madeFrom(slot);
  if (made !== undefined) return made === slot.statefulSet?.inputsHash;
  const template = templateOf(slot);
  return template !== undefined && pod.version === template.version && pod.trust === template.tls.trust;
}

export const makePods: Effect = (observation) =>
  observation.slots.reduce(
    (seen, slot) =>
      slot.statefulSet?.current && !slot.pod && !blockedBy(slot, 'statefulSet') ? makePod(slot.name)(seen) : seen,
    observation,
  );

function makePod(name: string): Effect {
  return create(name, 'pod', (fresh, slot, { at }) => {
    const inputs = templateOf(slot) ?? slot.peer?.inputs;
    const pod: PodView = {
      ...fresh,
      ready: false,
      upToDate: slot.statefulSet?.updateRevision ? 'yes' : 'unknown',
      ...(inputs && { version: inputs.version, quota: quotaBackendBytes(inputs) }),
      ...(inputs?.tls.trust !== undefined && { trust: inputs.tls.trust }),
      createdAt: at,
      container: { state: 'unknown', reason: '', everStarted: false, restarts: 0, lastWords: '' },
    };
    return rememberingItsTemplate(pod, slot.statefulSet?.inputsHash);
  });
}

/** The driver of a volume that was asked to grow, unless it has given up. */
export const growVolumes = onEach((slot) => {
  if (!slot.volume?.growing || slot.volume.growing.infeasible) return slot;
  const { growing: _, ...grown } = slot.volume;
  return { ...slot, volume: grown };
});

/** When a pod wants it, and finds a node; a PVC that we made anew finds what the one before did not. */
export const bindVolumes = onEach((slot) => {
  const { volume, pod } = slot;
  if (!volume || !pod || volume.bound || volume.leaving || volume.lost) return slot;
  if (blockedBy(slot, 'volume')) return slot;
  if (pod.unscheduled === undefined) return { ...slot, volume: bound(volume) };
  if (!volume.uid.includes('-made-')) return slot;
  const { unscheduled: _, ...scheduled } = pod;
  return { ...slot, volume: bound(volume), pod: scheduled };
});

/** As a provisioner would call it. */
export function bound(volume: VolumeView): VolumeView {
  if (volume.bound) return volume;
  return { ...volume, bound: true, disk: { pv: `pvc-${volume.uid}`, state: 'present', homes: 'some' } };
}

/** Containers start, with what they mount; those that ended once start again. Those that end again and again do so. */
export const runContainers = onEach((slot, observation) => {
  const { pod } = slot;
  if (!pod || pod.leaving || pod.unscheduled !== undefined || pod.container.state === 'running') return slot;
  if (!mayStart(slot, observation) || isBroken(slot, pod) || isHeldUp(slot)) return slot;
  const address = pod.address ?? `simulated-${slot.ordinal}`;
  const running = { ...slot, pod: { ...pod, address, container: started(pod.container, observation.at) } };
  // It has loaded the CAs of now.
  return isRefusing(slot) ? { ...running, endpoint: notAskedSince } : running;
});

function mayStart({ name, volume, configMap }: Slot, { certificates }: Observation): boolean {
  if (!volume?.bound || volume.lost || volume.leaving || !configMap) return false;
  const leaves = certificates.kind === 'read' ? certificates.leaves : [];
  return leaves.every(({ plan, facts }) => plan.peer !== name || facts !== undefined);
}

/** Whether a recreated pod fares better on the same disk and node cannot be foreseen. */
function isHeldUp({ warnings = [] }: Slot): boolean {
  return warnings.some(({ object }) => object === 'pod');
}

function isBroken(slot: Slot, pod: PodView): boolean {
  const { state, restarts } = pod.container;
  if (isCrashing(pod.container)) return true;
  return isDownOnItsConfiguration(slot) && !(state === 'terminated' && restarts === 0);
}

function started(before: ContainerView, at: Date): ContainerView {
  const { everStarted, restarts } = before;
  return {
    ...before,
    state: 'running',
    reason: '',
    everStarted: true,
    restarts: everStarted ? restarts + 1 : restarts,
    startedAt: at,
  };
}
