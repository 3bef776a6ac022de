import type { Authority } from '../../../manifests/build/certificate-names.ts';
import { inputsHash } from '../../../manifests/build/inputs-hash.ts';
import { labels } from '../../../manifests/build/names.ts';
import { isFatal } from '../../certificates/defect.ts';
import { hasEnded, isStrangersWord } from '../certificates/authority.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse } from '../decision.ts';
import { isDownOnItsConfiguration } from '../health.ts';
import type { Slot } from '../observation.ts';
import { quorumOf } from '../quorum.ts';

/**
 * Members that trust nobody any more: the CA that they loaded has ended, or its key was lost and what it signed has ended, and
 * etcd loads another one only when it starts; or all Secrets were lost at once. Connections that members made before go on, so that they are Ready, and
 * a rolling start would wait for ever for an answer. Each is started anew with the CA that signs now.
 *
 * One at a time; never onto a configuration that brings one down. Where a quorum answers, all others are Ready and the
 * disruption budget has the last word (I1). Where none does, a named exception to I1: nobody can open a connection to such
 * a member, and those that have loaded another CA find no quorum until most have. The same holds where members have loaded
 * CAs that are strangers to each other: the first can be healthy only when most have followed. While a quorum of those that have
 * not still serves, that is left to a person.
 */
export function reloadAuthorities(situation: Situation): Decision | undefined {
  const { membership, slots, effective } = situation;
  const isDeaf = whoIsDeaf(situation);
  if (isDeaf === undefined) return undefined;
  const [deaf, others] = parted(slots, isDeaf);
  if (
    slots.some(({ pod }) => pod?.leaving) ||
    others.some((slot) => isComing(slot, situation)) ||
    others.some(isDownOnItsConfiguration)
  ) {
    return undefined;
  }
  const apart = strangersFor(situation, 'peer').length > 0;
  if (apart && membership.kind === 'known' && slots.length > 2 && others.length < quorumOf(slots.length)) {
    return untold(deaf, effective) ?? leaveItToAPerson(situation);
  }
  const [next] = deaf;
  if (!next?.peer || !next.pod) return undefined;
  const cutOff = membership.kind === 'unknown' || (apart && others.length > 0);
  if (!cutOff && slots.some((slot) => slot !== next && !slot.pod?.ready)) return undefined;
  const { name, pod } = next;
  const tell = untold([next], effective);
  if (tell) return tell;
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

/** The first that would not start with what it should load. */
function untold(slots: readonly Slot[], { inputs }: Situation['effective']): Decision | undefined {
  const wanted = inputsHash(inputs);
  const next = slots.find(
    ({ peer, statefulSet }) => peer && (inputsHash(peer.inputs) !== wanted || statefulSet?.inputsHash !== wanted),
  );
  if (!next?.peer) return undefined;
  const { name, peer } = next;
  return act(
    { kind: 'change-template', peer: { name, uid: peer.uid }, inputs },
    'ReloadingAuthorities',
    `giving ${name} the CA that signs now: the one that it loaded vouches for nobody any more`,
  );
}

/** Clients are served, by connections between members that nobody can make anew: whoever is started would be alone. */
function leaveItToAPerson({ cluster }: Situation): Decision {
  const { name, namespace = '' } = cluster.metadata;
  return refuse(
    'AuthorityLost',
    `the CA of the members of ${name} was lost with all that it had signed: they go on over the connections that they have, but can make no new one, and none can be restarted alone`,
    `delete all pods of ${name} at once, at a time of your choice (kubectl -n ${namespace} delete pods -l ${labels.cluster}=${name}); until most have started again with the CA that was made anew it does not serve`,
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
    const strangers = [...strangersFor(situation, 'peer'), ...strangersFor(situation, 'client')];
    if (word === undefined && strangers.length === 0) return undefined;
    return (slot) =>
      strangers.some((stranger) => runs(slot) && !hasLoaded(slot, stranger)) ||
      (word !== undefined && isSilent(slot) && !hasLoaded(slot, word));
  }
  if (trust === undefined) return undefined;
  return (slot) => isSilent(slot) && refusesUs(slot) && slot.pod?.trust !== trust;
}

/** What every member must have loaded of this CA, as nothing leads to it from the one before. */
function strangersFor({ certificates }: Situation, which: Authority): readonly string[] {
  const word = certificates.kind === 'read' ? certificates.authorities[which]?.record?.trust : undefined;
  return word !== undefined && isStrangersWord(word) ? [word] : [];
}

function hasLoaded({ pod }: Slot, word: string): boolean {
  return pod?.trust?.split('.').includes(word) ?? false;
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

function isSilent(slot: Slot): boolean {
  return runs(slot) && slot.endpoint.kind === 'unknown';
}

function runs({ peer, pod }: Slot): boolean {
  return peer?.current === true && pod?.container.state === 'running';
}

/**
 * Started, and not yet seen to work. etcd answers nobody before it has found a quorum, which the first to be started anew can't;
 * what it shows to other members it shows from the beginning.
 */
function isComing({ name, pod, endpoint }: Slot, { certificates }: Situation): boolean {
  if (pod?.container.state !== 'running' || endpoint.kind === 'known') return false;
  if (certificates.kind !== 'read') return true;
  const shown = certificates.leaves.find(({ plan }) => plan.peer === name && plan.purpose === 'peer');
  return shown?.served === undefined || shown.served !== shown.facts?.fingerprint;
}

function parted(slots: readonly Slot[], isFirst: (slot: Slot) => boolean): readonly [readonly Slot[], readonly Slot[]] {
  return [slots.filter(isFirst), slots.filter((slot) => !isFirst(slot))];
}
