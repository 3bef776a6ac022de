import { type Decision, refuse } from '../../../know/decision.ts';
import { hasServed } from '../../../know/life.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * etcd makes its log, and then writes the list of members as its first entries. A member that is killed between the two
 * (seen on etcd 3.5 and 3.6, within 3 ms of making the log) stands for no election ever after, though it may still
 * follow one that does. Where none of a birth has an entry, none will, and no data are there.
 */
export function cutShort(situation: Situation): Decision | undefined {
  const { life, slots, cluster } = situation;
  if (life.stage !== 'birth' || life.clusterId !== undefined || hasServed(situation)) return undefined;
  const recorded = life.record.initialCluster.map(({ name }) => name);
  const isEmpty = (name: string) => {
    const slot = slots.find((one) => one.name === name);
    if (slot?.endpoint.kind !== 'unknown' || !slot.endpoint.atBirth) return false;
    const { hasLeader, applied } = slot.endpoint.atBirth;
    return !slot.configMap?.immutable && slot.peer?.memberId === undefined && !hasLeader && applied === 0n;
  };
  if (!recorded.every(isEmpty)) return undefined;
  return refuse(
    'BirthCutShort',
    `etcd on ${recorded.join(', ')} was killed while it made its log, before the first entry, and never goes on from that`,
    `correct what killed it; then, as no client was admitted yet, delete EtcdCluster ${cluster.metadata.name} with its PersistentVolumeClaims, and create it again`,
  );
}
