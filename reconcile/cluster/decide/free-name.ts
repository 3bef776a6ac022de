import { peerName, peerUrl, schemeOf } from '../../../manifests/render/names.ts';
import type { ListedMember } from '../../interfaces/etcd.ts';
import { outvotedBy } from '../know/recovery/outvoted.ts';
import type { Situation } from '../know/situation.ts';

/**
 * The name and peer URL of a member to come. Its ordinal is the lowest free one: no peer, pod or volume has it (also of
 * a former member), no entry of the list by name or address, and no member that a recovery left behind, which may
 * still turn up.
 */
export function freeName(
  { cluster, slots, effective }: Situation,
  members: readonly ListedMember[],
): { readonly name: string; readonly url: string } {
  const { name: clusterName, namespace = '' } = cluster.metadata;
  const scheme = schemeOf(effective.inputs.tls.mode);
  const urlOf = (member: string) => peerUrl(namespace, clusterName, member, scheme);
  const outvoted = outvotedBy(slots);
  const isTaken = (ordinal: number) =>
    slots.some((slot) => slot.ordinal === ordinal) ||
    outvoted.some((member) => member.name === peerName(clusterName, ordinal)) ||
    members.some(({ name, peerURLs }) => {
      const own = peerName(clusterName, ordinal);
      return name === own || peerURLs.includes(urlOf(own));
    });
  let ordinal = 0;
  while (isTaken(ordinal)) ordinal += 1;
  const name = peerName(clusterName, ordinal);
  return { name, url: urlOf(name) };
}
