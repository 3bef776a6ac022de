import { inputsHash } from '../../../manifests/build/inputs-hash.ts';
import { isFatal } from '../../certificates/defect.ts';
import { hasEnded } from '../certificates/authority.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { isDownOnItsConfiguration } from '../health.ts';
import type { Slot } from '../observation.ts';

/**
 * Members that trust nobody any more: the CA that they loaded has ended, or its key was lost and what it signed has ended, and
 * etcd loads another one only when it starts. Connections that members made before go on, so that they are Ready, and
 * a rolling start would wait for ever for an answer. Each is started anew with the CA that signs now.
 *
 * One at a time; never onto a configuration that brings one down. Where a quorum answers, all others are Ready and the
 * disruption budget has the last word (I1). Where none does, a named exception to I1: nobody can open a connection to such
 * a member, and those that have loaded another CA find no quorum until most have.
 */
export function reloadAuthorities(situation: Situation): Decision | undefined {
  const { membership, slots, effective } = situation;
  const isDeaf = whoIsDeaf(situation);
  if (isDeaf === undefined) return undefined;
  const [deaf, others] = parted(slots, isDeaf);
  if (slots.some(({ pod }) => pod?.leaving) || others.some(isComing) || others.some(isDownOnItsConfiguration)) {
    return undefined;
  }
  const [next] = deaf;
  if (!next?.peer || !next.pod) return undefined;
  const cutOff = membership.kind === 'unknown';
  if (!cutOff && slots.some((slot) => slot !== next && !slot.pod?.ready)) return undefined;
  const { name, peer, statefulSet, pod } = next;
  const wanted = inputsHash(effective.inputs);
  if (inputsHash(peer.inputs) !== wanted || statefulSet?.inputsHash !== wanted) {
    return act(
      { kind: 'change-template', peer: { name, uid: peer.uid }, inputs: effective.inputs },
      'ReloadingAuthorities',
      `giving ${name} the CA that signs now: the one that it loaded vouches for nobody any more`,
    );
  }
  if (pod.upToDate !== 'no') return undefined;
  return act(
    {
      kind: 'restart-member',
      pod: { name, uid: pod.uid },
      by: cutOff || slots.length < 3 ? 'deletion' : 'eviction',
      ...(cutOff && { cutOff }),
    },
    'ReloadingAuthorities',
    `starting ${name} anew with the CA that signs now: the one that it loaded vouches for nobody any more`,
  );
}

/**
 * Who has not loaded the CA that vouches for us. Of the CAs that we sign with we know which; where others sign, a member that
 * was not started with what it should trust says so to our face.
 */
function whoIsDeaf(situation: Situation): ((slot: Slot) => boolean) | undefined {
  const { certificates, effective } = situation;
  if (certificates.kind !== 'read') return undefined;
  const own = certificates.leaves.find(({ plan }) => plan.purpose === 'reconciler');
  if (!own?.facts || own.defects.some(isFatal)) return undefined;
  const { mode, trust } = effective.inputs.tls;
  if (mode === 'Managed') {
    const word = wordOfAStranger(situation);
    return word === undefined ? undefined : (slot) => isSilent(slot) && !slot.pod?.trust?.split('.').includes(word);
  }
  if (trust === undefined) return undefined;
  return (slot) => isSilent(slot) && refusesUs(slot) && slot.pod?.trust !== trust;
}

function refusesUs({ endpoint }: Slot): boolean {
  return endpoint.kind === 'unknown' && endpoint.tls === 'ClientCertificateRefused';
}

/** What a member must have loaded to accept us; `undefined` as long as there is a chain to the CA before. */
function wordOfAStranger({ certificates, at }: Situation): string | undefined {
  if (certificates.kind !== 'read') return undefined;
  const { facts, record } = certificates.authorities.client ?? {};
  const own = certificates.leaves.find(({ plan }) => plan.purpose === 'reconciler');
  if (!facts || own?.facts?.issuer !== facts.subject) return undefined;
  return facts.cross && !hasEnded(facts.cross, at) ? undefined : record?.trust;
}

function isSilent({ peer, pod, endpoint }: Slot): boolean {
  return peer?.current === true && pod?.container.state === 'running' && endpoint.kind === 'unknown';
}

/** Started, and yet to answer. */
function isComing({ pod, endpoint }: Slot): boolean {
  return pod?.container.state === 'running' && endpoint.kind === 'unknown';
}

function parted(slots: readonly Slot[], isFirst: (slot: Slot) => boolean): readonly [readonly Slot[], readonly Slot[]] {
  return [slots.filter(isFirst), slots.filter((slot) => !isFirst(slot))];
}
