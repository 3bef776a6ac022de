import { quotaBackendBytes } from '../../../../manifests/render/quota.ts';
import type { Situation } from '../situation.ts';

/** Percent of the quota at which a person is told, the more urgent first. */
export const fillingSteps = [90, 80] as const;

export interface Filling {
  readonly name: string;
  readonly percent: (typeof fillingSteps)[number];
}

/** The one that is fullest, where that is much. */
export function fillingAmong(shares: readonly { readonly name: string; readonly share: number }[]) {
  const [fullest] = shares.toSorted((a, b) => b.share - a.share);
  const percent = fullest && fillingSteps.find((step) => fullest.share * 100 > step);
  return percent && ({ name: fullest.name, percent } satisfies Filling);
}

export function fillingInWords({ name, percent }: Filling): string {
  return `${name} has filled more than ${percent} % of spec.etcd.quotaBackendBytes: at 100 % etcd takes no writes`;
}

/** The member whose data fill most of its quota, where that is much. Sizes are as the status has them: steady. */
export function fillingOf({ slots, cluster }: Pick<Situation, 'slots' | 'cluster'>): Filling | undefined {
  const shares = slots.flatMap(({ name, peer, pod, endpoint }) => {
    if (endpoint.kind !== 'known' || !peer) return [];
    const before = cluster.status?.members?.find((member) => member.name === name)?.dbInUseBytes;
    const quota = pod?.quota ?? quotaBackendBytes(peer.inputs);
    return [{ name, share: settled(before, endpoint.status.dbSizeInUse) / quota }];
  });
  return fillingAmong(shares);
}

/** Sizes move with every write; one that moved by less than a tenth is not news, and not worth a write of its own. */
export function settled(before: number | undefined, now: bigint): number {
  const bytes = Number(now);
  return before !== undefined && Math.abs(bytes - before) * 10 < before ? before : bytes;
}
