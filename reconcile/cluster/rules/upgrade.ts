import { isDeepStrictEqual } from 'node:util';
import {
  compareVersions,
  formatVersion,
  isHigher,
  isSameMinor,
  minorText,
  parseVersion,
  type Version,
} from '../../../manifests/api/version.ts';
import { inputsHash } from '../../../manifests/build/inputs-hash.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse, wait } from '../decision.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import { waitForRoom } from '../wait-for-room.ts';
import { reluctance } from './roll-configuration.ts';

/**
 * Another version, for a cluster that is well: one member's template at a time, the leader's last; `finish-rolling` then starts
 * that member anew. When all run it, etcd's own cluster version is awaited, and the volumes are told. Whether there may be
 * another version at all, and when, is the effective spec's (`effective-version.ts`).
 *
 * Only the version and its image change here: the rest of a commit comes after it (`roll-configuration`), so that whatever
 * goes wrong has one cause.
 *
 * Guards I1 and I6.
 */
export function upgrade(situation: Situation): Decision | undefined {
  if (situation.membership.kind === 'unknown') return undefined;
  return refuseOtherImage(situation) ?? changeVersion(situation) ?? settle(situation) ?? prepareNextMinor(situation);
}

/** An image that holds another etcd than its version says: the first member that has it is the last. */
function refuseOtherImage({ slots, effective }: Situation): Decision | undefined {
  const { version, image } = effective.inputs;
  const other = slots.find(
    ({ peer, pod, statefulSet, endpoint }) =>
      peer?.current &&
      endpoint.kind === 'known' &&
      pod?.upToDate === 'yes' &&
      statefulSet?.inputsHash === inputsHash(peer.inputs) &&
      peer.inputs.version === version &&
      isDeepStrictEqual(peer.inputs.image, image) &&
      endpoint.status.version !== version,
  );
  if (other?.endpoint.kind !== 'known') return undefined;
  return refuse(
    'ImageOfAnotherVersion',
    `${other.name} was given the image of etcd ${version}, and what runs is ${other.endpoint.status.version}`,
    'let spec.version and spec.image (its digest) say the same',
  );
}

function changeVersion(situation: Situation): Decision | undefined {
  const { slots, effective, crowdedBy } = situation;
  const { version, image } = effective.inputs;
  const ours = slots.filter(({ peer }) => peer?.current);
  const outdated = ours.filter((slot) => hasAnother(slot, version));
  // Who runs it already is only told so. First, because a peer that still says otherwise may be taken for one that ran otherwise.
  const isNews = ({ pod }: Slot) => Number(pod?.version !== version);
  const [next] = outdated.toSorted(
    (a, b) => isNews(a) - isNews(b) || reluctance(a, situation) - reluctance(b, situation),
  );
  if (!next?.peer) return undefined;
  if (crowdedBy && outdated.length === ours.length) return waitForRoom(situation);
  const { name, peer } = next;
  const goesBack = isHigher(runs(next) ?? peer.inputs.version, version);
  return act(
    { kind: 'change-template', peer: { name, uid: peer.uid }, inputs: { ...peer.inputs, version, image } },
    goesBack ? 'RollingBackVersion' : 'UpgradingMember',
    goesBack ? `taking ${name} back to etcd ${version}` : `giving ${name} etcd ${version}`,
  );
}

/** Peer or template: whoever died between the two writes left a peer that says more than its template has. */
function hasAnother({ peer, statefulSet, pod }: Slot, version: string): boolean {
  if (!peer) return false;
  const isBehind = statefulSet !== undefined && statefulSet.inputsHash !== inputsHash(peer.inputs);
  return peer.inputs.version !== version || (isBehind && pod?.version !== undefined && pod.version !== version);
}

function runs({ endpoint }: Slot): string | undefined {
  return endpoint.kind === 'known' ? endpoint.status.version : undefined;
}

/** All members run it: etcd follows within seconds, and then the volumes may know. */
function settle({ slots, effective, clusterVersion, membership }: Situation): Decision | undefined {
  const version = parseVersion(effective.inputs.version);
  const members = slots.flatMap((slot) => {
    const record = recordOf(slot);
    const { endpoint } = slot;
    if (!slot.peer?.current || record?.state !== 'sealed' || endpoint.kind === 'unknown') return [];
    return [{ name: slot.name, record, status: endpoint.status }];
  });
  const unnoted = effective.pending?.kind === 'unnoted';
  const stale = members.filter(
    ({ record, status }) => unnoted || record.nextVersion !== undefined || record.version !== status.version,
  );
  const hasArrived = clusterVersion !== undefined && isSameMinor(clusterVersion, version);
  if (!hasArrived && (stale.length > 0 || effective.pending)) {
    return wait(
      'AwaitingClusterVersion',
      `every member runs etcd ${formatVersion(version)}; etcd moves its cluster version to ${minorText(version)} by itself`,
      { on: 'time', afterSeconds: 2 },
    );
  }
  if (stale.length === 0 || membership.kind === 'unknown') return undefined;
  const entered = unnoted || stale.some(({ record }) => isMinorBelow(record.version, version));
  const last =
    members
      .map(({ status }) => status.raftIndex)
      .toSorted((a, b) => Number(a - b))
      .at(-1) ?? 0n;
  return act(
    {
      kind: 'note-versions',
      clusterId: membership.clusterId,
      members: stale.map(({ name, status }) => ({ name, memberId: status.memberId, version: status.version })),
      ...(entered && { since: { minor: minorText(version), index: String(last) } }),
    },
    'RecordingVersion',
    `writing on the volumes of ${stale.map(({ name }) => name).join(', ')} that they run etcd ${formatVersion(version)}`,
  );
}

/** Of one that went back the volume says a higher one: the earlier entries of raft's log are none the newer for it. */
function isMinorBelow(text: string, version: Version): boolean {
  return !isSameMinor(text, version) && compareVersions(parseVersion(text), version) < 0;
}

function prepareNextMinor({ effective, membership }: Situation): Decision | undefined {
  const { pending, inputs } = effective;
  if (!pending || membership.kind === 'unknown') return undefined;
  const { version } = inputs;
  if (pending.kind === 'snapshots') {
    return act(
      { kind: 'advance-log', clusterId: membership.clusterId, index: String(pending.index) },
      'PreparingUpgrade',
      `letting every member take a snapshot under etcd ${version}: ${pending.to} cannot read what older ones wrote`,
    );
  }
  return wait('PreparingUpgrade', `etcd ${version} is to settle before the upgrade to ${pending.to} begins`, {
    on: 'time',
    afterSeconds: 2,
  });
}
