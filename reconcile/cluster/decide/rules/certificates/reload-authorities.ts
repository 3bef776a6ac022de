import { inputsHash } from '../../../../../manifests/render/inputs-hash.ts';
import { labels } from '../../../../../manifests/render/names.ts';
import { isFatal } from '../../../../x509/defect.ts';
import { hasLoaded, isRefusing, strangersFor, wordToAcceptUs } from '../../../know/certificates/stranger.ts';
import { act, type Decision, refuse } from '../../../know/decision.ts';
import { isDownOnItsConfiguration } from '../../../know/health/health.ts';
import { quorumOf } from '../../../know/membership/quorum.ts';
import type { Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * Members that trust no current CA: the CA that they loaded has expired, or its key was lost and what it signed has
 * expired, or all Secrets were lost at once. etcd loads a CA only when it starts. Existing connections between members
 * go on, so they are Ready, and a rolling restart would wait for an answer for ever. Each member is restarted with the
 * current CA.
 *
 * One at a time; never onto a configuration with which a member is down. Where a quorum answers, all others are Ready
 * and the disruption budget decides (I1). Where none answers, a named exception to I1: no new connection to such a
 * member is possible, and restarted members find no quorum until most have restarted. The same holds where members have
 * loaded CAs without a chain between them. While a quorum of the members that have not restarted still serves, the
 * decision is left to a person.
 */
export function reloadAuthorities(situation: Situation): Decision | undefined {
  const { membership, slots, effective, certificates } = situation;
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
  const apart = strangersFor(certificates, 'peer').length > 0;
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
    `restarting ${name} with the current CA: the CA that it has loaded is no longer valid for any certificate`,
  );
}

/** The first member that would not start with the CAs that it should load. */
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
    `giving ${name} the current CA: the CA that it has loaded is no longer valid for any certificate`,
  );
}

/** Clients are served over connections that cannot be made again: a restarted member would be alone. */
function leaveItToAPerson({ cluster }: Situation): Decision {
  const { name, namespace = '' } = cluster.metadata;
  return refuse(
    'AuthorityLost',
    `the CA of the members of ${name} was lost with everything that it signed: they serve over their open connections, but can open no new one, and none can be restarted alone`,
    `delete all pods of ${name} at once, at a time of your choice (kubectl -n ${namespace} delete pods -l ${labels.cluster}=${name}); the cluster does not serve until most have started again with the new CA`,
  );
}

/**
 * Which members have not loaded the CA of our client certificate. Where etcd-ratchet signs, the CAs are known; where
 * others sign, a member that started without the current CA rejects our certificate.
 */
function whoIsDeaf(situation: Situation): ((slot: Slot) => boolean) | undefined {
  const { certificates, effective } = situation;
  if (certificates.kind !== 'read') return undefined;
  const own = certificates.leaves.find(({ plan }) => plan.purpose === 'reconciler');
  if (!own?.facts || own.defects.some(isFatal)) return undefined;
  const { mode, trust } = effective.inputs.tls;
  if (mode === 'Managed') {
    const word = wordToAcceptUs(certificates, situation.at);
    const strangers = [...strangersFor(certificates, 'peer'), ...strangersFor(certificates, 'client')];
    if (word === undefined && strangers.length === 0) return undefined;
    return (slot) =>
      strangers.some((stranger) => runs(slot) && !hasLoaded(slot.pod, stranger)) ||
      (word !== undefined && isSilent(slot) && !hasLoaded(slot.pod, word));
  }
  if (trust === undefined) return undefined;
  return (slot) => isSilent(slot) && isRefusing(slot) && slot.pod?.trust !== trust;
}

function isSilent(slot: Slot): boolean {
  return runs(slot) && slot.endpoint.kind === 'unknown';
}

function runs({ peer, pod }: Slot): boolean {
  return peer?.current === true && pod?.container.state === 'running';
}

/**
 * Started, and not yet seen to work. etcd answers no request before it finds a quorum, which the first restarted member
 * cannot; it presents its peer certificate from the start.
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
