import { formatVersion, isVersion, parseVersion } from '../../../../manifests/api/version.ts';
import type { Observation } from '../../know/observation.ts';

/** etcd moves it up when all members run a higher minor, and never back. */
export function moveVersion(observation: Observation): Observation {
  const { membership, slots, clusterVersion } = observation;
  if (membership.kind === 'unknown') return observation;
  const all = [...slots, ...(observation.inherited ?? [])];
  const running = membership.members.map(({ id }) => {
    const slot = all.find(({ endpoint }) => endpoint.kind === 'known' && endpoint.status.memberId === id);
    return slot?.endpoint.kind === 'known' ? slot.endpoint.status.version : undefined;
  });
  const known = running.filter(isVersion).map(parseVersion);
  const lowest = known.toSorted((a, b) => a.major - b.major || a.minor - b.minor)[0];
  if (!lowest) return observation;
  const text = formatVersion({ ...lowest, patch: 0 });
  if (clusterVersion === undefined) return { ...observation, clusterVersion: text };
  const now = isVersion(clusterVersion) ? parseVersion(clusterVersion) : lowest;
  const isHigher = lowest.major > now.major || (lowest.major === now.major && lowest.minor > now.minor);
  return isHigher && known.length === running.length ? { ...observation, clusterVersion: text } : observation;
}
