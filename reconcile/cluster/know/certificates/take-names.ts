import type { Approval } from '../../../../manifests/api/approval.ts';
import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import { approveCommand } from '../../../../manifests/render/kubectl.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { missingNames } from '../../../x509/names.ts';
import type { Life } from '../life.ts';
import type { Observation, Slot } from '../observation.ts';
import { asksForNames } from '../spec/names-asked.ts';
import type { Refusal } from '../spec/refusal.ts';
import { bornTls, namesOfLeaves } from './wanted.ts';

/** A cluster that lets in every certificate of its issuer is to let in names: leaves get them first. */

type Seen = Pick<Observation, 'cluster' | 'slots' | 'certificates'>;

/** Whether the spec asks for names that no volume has by now. */
export function awaitsNames({ cluster, slots }: Pick<Seen, 'cluster' | 'slots'>): boolean {
  const born = bornTls(cluster, slots);
  return asksForNames(cluster) && born?.tlsMode === 'CertManager' && born.allowedNames === undefined;
}

/** As a person set it; hostile or not, it is only ever compared. */
export function namesGiven({ cluster }: Pick<Seen, 'cluster'>): string | undefined {
  return cluster.metadata.annotations?.[annotations.takeNames];
}

/**
 * What a person approves: that members of this etcd cluster let in these names and no others. Absent while a leaf lacks
 * its name, or a member does not present it.
 */
export function namesToApprove(seen: Seen, life: Life): Approval | undefined {
  if (life.stage !== 'born' || life.clusterId === undefined || whatLacksNames(seen).length > 0) return undefined;
  const own = namesOfLeaves(seen.cluster, seen.slots, 'CertManager');
  const names = own ? [own.clients, ...clientNamesOf(seen)] : [];
  const { clusterId } = life;
  return {
    annotation: annotations.takeNames,
    value: `${clusterId}/${hashOf({ clusterId, names }).slice(0, 12)}`,
    approves: `members of ${seen.cluster.metadata.name} let in clients by the names ${names.join(', ')}, members by ${own?.members}, and no other certificate`,
    loses:
      "connections of clients with other certificates, of which etcd-ratchet knows none, and etcd's HTTP gateway; members keep to it for life",
  };
}

/** Members whose leaves are named, and leaves of clients: what lacks its name, or is not presented yet. */
function whatLacksNames({ certificates, cluster, slots }: Seen): readonly string[] {
  const own = namesOfLeaves(cluster, slots, 'CertManager');
  if (certificates.kind !== 'read' || !own) return ['not read'];
  return certificates.leaves.flatMap(({ plan, facts, served }) => {
    if (plan.purpose === 'server') return [];
    const lacks = !facts || missingNames({ ...facts, ipAddresses: [] }, plan.dnsNames).length > 0;
    return lacks || (plan.peer !== undefined && served !== facts.fingerprint) ? [plan.secretName] : [];
  });
}

function clientNamesOf({ cluster }: Pick<Seen, 'cluster'>): readonly string[] {
  return [...new Set(cluster.spec.tls?.certManager?.clientNames ?? [])].toSorted();
}

/** Told until it is approved; what else the commit asks for is applied. */
export function namesRefusal(seen: Seen, life: Life): Refusal | undefined {
  if (!awaitsNames(seen)) return undefined;
  const { metadata } = seen.cluster;
  const told = {
    reason: 'NamesNotApproved',
    field: 'spec.tls.certManager.allowedNames',
  } as const;
  const still = `members of ${metadata.name} let in every certificate of their issuer`;
  const approval = namesToApprove(seen, life);
  if (!approval) {
    const lacking = whatLacksNames(seen).join(', ');
    return {
      ...told,
      message: `${still} until each of their own has its name, and a person approves it; without its name, or not presented yet: ${lacking}`,
      cure: 'wait until the issuer has signed them; CertificatesReady says what keeps it',
    };
  }
  const given = namesGiven(seen);
  const other =
    given === undefined ? '' : `; the present approval (${annotations.takeNames}) is for other names, and void`;
  return {
    ...told,
    message: `${still} until a person approves it: all of their own have their names by now; a client with another certificate is refused then, and applications must have read theirs again${other}`,
    cure: `approve it: ${approveCommand('etcdclusters', metadata, approval)}`,
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
