import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import { defragmented } from '../marks.ts';
import type { Observation, PeerView, Slot } from '../observation.ts';

/**
 * What a peer records of its member's last defragmentation. It is written before etcd is asked, so that a failure, or
 * an invocation that dies, is not repeated without end.
 */
export type Defragmented = NonNullable<PeerView['defragmented']>;

/** A person may have edited it by hand: then it says nothing, and costs one more defragmentation. */
export function readDefragmented({ metadata }: EtcdPeer): Defragmented | undefined {
  const [time = '', count = '', revision = ''] = metadata.annotations?.[defragmented]?.split(' ') ?? [];
  const at = new Date(time);
  if (Number.isNaN(at.getTime()) || !/^\d{1,6}$/.test(count)) return undefined;
  return { at, vain: Number(count), ...(/^\d{1,19}$/.test(revision) && { bareAt: BigInt(revision) }) };
}

/** The peer as it is to be written. */
export function withDefragmented(peer: EtcdPeer, { at, vain, bareAt }: Defragmented): EtcdPeer {
  const mark = [at.toISOString(), vain, ...(bareAt === undefined ? [] : [bareAt])].join(' ');
  const annotations = { ...peer.metadata.annotations, [defragmented]: mark };
  return { ...peer, metadata: { ...peer.metadata, annotations } };
}

/** Whether a member was asked within so many seconds, and, where `vain` is given, at least so often without gain. */
export function wasAsked({ peer }: Slot, at: Date, { within, vain = 0 }: { within: number; vain?: number }): boolean {
  const last = peer?.defragmented;
  return last !== undefined && last.vain >= vain && at.getTime() - last.at.getTime() < within * 1000;
}

/** How long a member may not answer after it was asked, in seconds: its container is restarted before that. */
export const patience = 120;

/**
 * Whether it may still be defragmenting: etcd goes on after our deadline, and answers no request meanwhile. Where
 * another member is silent as well, the cause is another one.
 */
export function isUnderWay(slot: Slot, { slots, at }: Pick<Observation, 'slots' | 'at'>): boolean {
  if (slot.endpoint.kind === 'known' || slot.endpoint.tls !== undefined) return false;
  if (slot.pod?.container.state !== 'running' || slot.pod.leaving) return false;
  const alone = slots.every((other) => other === slot || !other.peer?.current || other.endpoint.kind === 'known');
  return alone && wasAsked(slot, at, { within: patience, vain: 1 });
}
