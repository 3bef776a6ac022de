import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import type { ListedMember } from '../../../interfaces/etcd.ts';
import { memberOf, urlOf } from '../../know/health/health.ts';
import { hasDeparted, recordOf } from '../../know/life.ts';
import type { Observation, Slot } from '../../know/observation.ts';
import { idOf as rememberedIdOf } from '../../know/recovery/lost.ts';
import { rememberedList } from '../knowledge.ts';

export interface List {
  readonly clusterId: string;
  readonly members: readonly ListedMember[];
}

/**
 * As etcd has it, or, where no member answers, as the volumes remember it; and, of those whose volume is gone, as the
 * status does.
 */
export function listOf(observation: Observation): List | undefined {
  const { membership, slots } = observation;
  const remembered = rememberedList(observation);
  if (remembered || membership.kind === 'known') return remembered;
  const recorded = slots.flatMap((slot) => {
    const record = recordOf(slot);
    return record && !hasDeparted(slot) ? [{ slot, record }] : [];
  });
  const [first] = recorded;
  if (!first) return undefined;
  const { token, initialCluster } = first.record;
  const clusterId = recorded.find(({ record }) => record.clusterId)?.record.clusterId ?? idOf(token, initialCluster);
  if (membership.last) return { clusterId, members: membership.last };
  const isBirth = recorded.some(({ record }) => record.state === 'bootstrapping' || record.state === 'restored');
  const members = isBirth
    ? initialCluster.map(({ name, url }) => {
        const known = recorded.find(({ slot }) => slot.name === name)?.record.memberId;
        return listed(known ?? idOf(token, url), '', url);
      })
    : slots.flatMap((slot) => {
        const memberId = hasDeparted(slot) || recordOf(slot)?.state === 'joining' ? undefined : rememberedIdOf(slot);
        return memberId === undefined ? [] : [listed(memberId, slot.name, urlOf(slot) ?? '')];
      });
  return { clusterId, members: [...members, ...toldBeside(members, slots)] };
}

/** Others that members name which were started without a quorum: they may have no object left. */
function toldBeside(members: readonly ListedMember[], slots: readonly Slot[]): readonly ListedMember[] {
  const told = slots.flatMap(({ endpoint }) => (endpoint.kind === 'unknown' ? (endpoint.metrics?.others ?? []) : []));
  return [...new Set(told)].filter((id) => !members.some((member) => member.id === id)).map((id) => listed(id, '', ''));
}

function listed(id: string, name: string, url: string): ListedMember {
  return { id, name, peerURLs: [url], clientURLs: [], isLearner: false };
}

/** As etcd writes IDs. */
function idOf(...of: readonly unknown[]): string {
  return hashOf(of).slice(0, 16).replace(/^0+/, '1');
}

/** A member that was never seen has no ID on its volume yet. */
export function memberIn(slot: Slot, members: readonly ListedMember[]): ListedMember | undefined {
  const found = memberOf(slot, members);
  if (found || recordOf(slot)?.memberId !== undefined) return found;
  const url = urlOf(slot);
  return members.find(({ peerURLs }) => url !== undefined && peerURLs.includes(url));
}

/** Of those that run, with the names that they publish. */
export function published(
  members: readonly ListedMember[],
  running: readonly { readonly slot: Slot; readonly member: ListedMember }[],
): readonly ListedMember[] {
  const nameOf = (id: string) => running.find(({ member }) => member.id === id)?.slot.name;
  if (members.every(({ id, name }) => name !== '' || nameOf(id) === undefined)) return members;
  return members.map((member) => (member.name === '' ? { ...member, name: nameOf(member.id) ?? '' } : member));
}
