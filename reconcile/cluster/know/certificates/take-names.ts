import type { Approval } from '../../../../manifests/api/approval.ts';
import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import { approveCommand } from '../../../../manifests/render/kubectl.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { sortedNames } from '../../../../manifests/render/peer.ts';
import { missingNames } from '../../../x509/names.ts';
import type { Life } from '../life.ts';
import type { Observation, Slot } from '../observation.ts';
import type { Refusal } from '../spec/refusal.ts';
import { areToBeTold, awaitsNames, namesOfLeaves } from './wanted.ts';

/** A cluster that lets in every certificate of its issuer is to let in names: leaves get them first. */

type Seen = Pick<Observation, 'cluster' | 'slots' | 'certificates'>;

/** As a person set it; hostile or not, it is only ever compared. */
export function namesGiven({ cluster }: Pick<Seen, 'cluster'>): string | undefined {
  return cluster.metadata.annotations?.[annotations.takeNames];
}

/**
 * What a person approves: that members of this etcd cluster let in these names and no others. Absent while a leaf lacks
 * its name, or a member does not present it.
 */
export function namesToApprove(seen: Seen, life: Life): Approval | undefined {
  if (life.stage !== 'born' || life.clusterId === undefined || !isAllNamed(seen)) return undefined;
  const { metadata, spec } = seen.cluster;
  const own = namesOfLeaves(seen.cluster, seen.slots, 'CertManager');
  const names = own ? [own.clients, ...sortedNames(spec.tls?.certManager?.clientNames)] : [];
  const { clusterId } = life;
  return {
    annotation: annotations.takeNames,
    value: `${clusterId}/${hashOf({ clusterId, names }).slice(0, 12)}`,
    approves: `members of ${metadata.name} let in clients by the names ${names.join(', ')}, members by ${own?.members}, and no other certificate`,
    loses:
      "connections of clients with other certificates, of which etcd-ratchet knows none, and etcd's HTTP gateway; members keep to it for life",
  };
}

/** Secrets whose certificate lacks its name, and those whose member does not present it yet. Servers need none. */
function whatLacksNames({ certificates, cluster, slots }: Seen) {
  const own = namesOfLeaves(cluster, slots, 'CertManager');
  if (certificates.kind !== 'read' || !own) return { unsigned: [], unshown: [], isRead: false };
  // No client has the leaf of a user that was never made: it locks out none.
  const leaves = certificates.leaves.filter(
    ({ plan, facts }) => plan.purpose !== 'server' && (plan.purpose !== 'user' || facts !== undefined),
  );
  const unsigned = leaves.filter(
    ({ plan, facts }) => !facts || missingNames({ ...facts, ipAddresses: [] }, plan.dnsNames).length > 0,
  );
  const unshown = leaves.filter(({ plan, facts, served }) => plan.peer !== undefined && served !== facts?.fingerprint);
  const named = (some: typeof leaves) => some.map(({ plan }) => plan.secretName);
  return { unsigned: named(unsigned), unshown: named(unshown), isRead: true };
}

function isAllNamed(seen: Seen): boolean {
  const { unsigned, unshown, isRead } = whatLacksNames(seen);
  return isRead && unsigned.length + unshown.length === 0;
}

/**
 * Whether members may be told, where volumes say it: the first of them would refuse others whose leaves have no names,
 * and us. A request that arrives late, or a hand, may say it of leaves that have none. Told members hold leaves to it.
 */
export function mayBeTold(seen: Seen): boolean {
  const { cluster, slots, certificates } = seen;
  // Not looked at to act on it (`occasion.ts`).
  return certificates.kind === 'unread' || !areToBeTold(cluster, slots) || isAllNamed(seen);
}

/** Told until it is approved; what else the commit asks for is applied. */
export function namesRefusal(seen: Seen, life: Life): Refusal | undefined {
  const { cluster, slots } = seen;
  if (!awaitsNames(cluster, slots)) return undefined;
  const told = { reason: 'NamesNotApproved', field: 'spec.tls.certManager.allowedNames' } as const;
  const still = `members of ${cluster.metadata.name} let in every certificate of their issuer`;
  const approval = namesToApprove(seen, life);
  if (!approval) {
    const { unsigned, unshown } = whatLacksNames(seen);
    const lacking = [
      ...(unsigned.length > 0 ? [`without its name: ${unsigned.join(', ')}`] : []),
      ...(unshown.length > 0 ? [`not presented by its member yet: ${unshown.join(', ')}`] : []),
    ];
    return {
      ...told,
      message: `${still} until each of their own certificates has its name, and a person approves it${lacking.length > 0 ? `; ${lacking.join('; ')}` : ''}`,
      cure: 'wait until the issuer has signed them, CertificatesReady says what keeps it, and until members that run present them; or remove allowedNames: an issuer that refuses these names renews none of these certificates',
    };
  }
  const given = namesGiven(seen);
  if (given === approval.value) {
    return {
      ...told,
      message: `${still} until their volumes record otherwise; a person has approved it`,
      cure: 'wait: it is recorded once every member is healthy, and then each restarts for it',
    };
  }
  const isOther = given !== undefined;
  const other = isOther ? `; the present approval (${annotations.takeNames}) is for other names, and void` : '';
  return {
    ...told,
    message: `${still} until a person approves it: all of their own have their names by now; a client with another certificate is refused then, and applications must have read theirs again${other}`,
    cure: `approve it: ${approveCommand('etcdclusters', cluster.metadata, approval)}`,
    approval,
  };
}

/** Volumes of members that do not say it yet. */
export function volumesWithoutNames(slots: readonly Slot[]): readonly Slot[] {
  return slots.filter(
    ({ peer, volume }) =>
      peer?.current && volume?.record.kind === 'valid' && !volume.leaving && !volume.record.record.allowedNames,
  );
}
