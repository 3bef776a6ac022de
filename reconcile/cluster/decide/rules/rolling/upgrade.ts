import { isDeepStrictEqual } from 'node:util';
import {
  formatVersion,
  isHigher,
  isMinorBelow,
  isSameMinor,
  minorText,
  parseVersion,
} from '../../../../../manifests/api/version.ts';
import { inputsHash } from '../../../../../manifests/render/inputs-hash.ts';
import { timestamp } from '../../../../time/timestamp.ts';
import { act, type Decision, refuse, wait } from '../../../know/decision.ts';
import { recordOf } from '../../../know/life.ts';
import type { Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { isKept } from '../../../know/versions/begun.ts';
import { type Soak, soakOf } from '../../../know/versions/soak.ts';
import { meanwhile, restartOf } from '../../restarting.ts';
import { waitToGoOn, waitToUpgrade } from '../../wait-for-window.ts';
import { grow } from '../membership/scale.ts';
import { lackSpace } from '../space/free-space.ts';
import { reluctance } from './roll-configuration.ts';

/**
 * Another version for a healthy cluster: one member at a time, the leader last, gets the template and restarts.
 * `finish-rolling` completes what a crash left. When all run it, etcd's own cluster version is awaited, and the volumes
 * record it. Whether and when another version may run is decided in `effective-version.ts`.
 *
 * Only the version and its image change here: the rest of a commit comes after it (`roll-configuration`), so that every
 * failure has one cause.
 *
 * Guards I1 and I6.
 */
export function upgrade(situation: Situation): Decision | undefined {
  if (situation.membership.kind === 'unknown') return undefined;
  return refuseOtherImage(situation) ?? changeVersion(situation) ?? settle(situation) ?? prepareNextMinor(situation);
}

/** The image contains another version of etcd than the spec says: the roll stops at the first member. */
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
    `${other.name} has the image for etcd ${version}, and runs ${other.endpoint.status.version}`,
    'let spec.version and spec.image (its digest) name the same version',
  );
}

function changeVersion(situation: Situation): Decision | undefined {
  const { slots, effective } = situation;
  const { version, image } = effective.inputs;
  const ours = slots.filter(({ peer }) => peer?.current);
  const soak = soakOf(situation);
  const all = ours.filter((slot) => hasAnother(slot, version));
  const before = all.filter((slot) => !soak?.keepers.includes(slot));
  const isSoaked = soak !== undefined && before.length === 0;
  if (isSoaked && situation.at < soak.until) return addMissing(situation) ?? keepOn(soak, situation);
  const outdated = isSoaked ? all : before;
  // A member that runs it already only gets its record corrected. First, because a peer that still says otherwise may
  // look as if it ran otherwise.
  const isNews = ({ pod }: Slot) => Number(pod?.version !== version);
  const [next] = outdated.toSorted(
    (a, b) => isNews(a) - isNews(b) || reluctance(a, situation) - reluctance(b, situation),
  );
  if (!next?.peer) return undefined;
  const { name, peer } = next;
  const goesBack = isHigher(runs(next) ?? peer.inputs.version, version);
  const toWait = () => (isSoaked ? waitToGoOn(situation) : waitToUpgrade(situation, outdated.length < ours.length));
  const held = goesBack && isKept(version, slots) ? undefined : toWait();
  if (held) return held;
  const restart = restartOf(next, situation);
  const inputs = { ...peer.inputs, version, image };
  const anew = restart ? `, and restarting it${meanwhile(situation)}` : '';
  return act(
    { kind: 'change-template', peer: { name, uid: peer.uid }, inputs, rolls: true, ...(restart && { restart }) },
    goesBack ? 'RollingBackVersion' : 'UpgradingMember',
    goesBack ? `taking ${name} back to etcd ${version}${anew}` : `giving ${name} etcd ${version}${anew}`,
  );
}

/** A member that was removed is not left out for the days of a soak; new ones have the version of the spec. */
function addMissing(situation: Situation): Decision | undefined {
  const { membership, effective } = situation;
  if (membership.kind === 'unknown' || membership.members.length >= effective.replicas) return undefined;
  return lackSpace(situation) ?? grow(situation);
}

function keepOn({ version, keepers, until }: Soak, { at }: Situation): Decision {
  const kept = new Set(keepers.flatMap(({ peer }) => peer?.inputs.version ?? []));
  return wait(
    'Soaking',
    `${keepers.map(({ name }) => name).join(', ')} ${keepers.length === 1 ? 'stays' : 'stay'} on etcd ${[...kept].join(', ')} until ${timestamp(until)}, as spec.update.soak asks; every other member runs ${version}`,
    { on: 'time', afterSeconds: Math.ceil((until.getTime() - at.getTime()) / 1000) },
  );
}

/** Peer or template: an invocation that died between the two writes left a peer that is ahead of its template. */
function hasAnother({ peer, statefulSet, pod }: Slot, version: string): boolean {
  if (!peer) return false;
  const isBehind = statefulSet !== undefined && statefulSet.inputsHash !== inputsHash(peer.inputs);
  return peer.inputs.version !== version || (isBehind && pod?.version !== undefined && pod.version !== version);
}

function runs({ endpoint }: Slot): string | undefined {
  return endpoint.kind === 'known' ? endpoint.status.version : undefined;
}

/** All members run it: etcd's cluster version follows within seconds, and then the volumes record it. */
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
    ({ record, status }) =>
      unnoted || (record.nextVersion ?? record.rollsTo) !== undefined || record.version !== status.version,
  );
  const hasArrived = clusterVersion !== undefined && isSameMinor(clusterVersion, version);
  if (!hasArrived && (stale.length > 0 || effective.pending)) {
    return wait(
      'AwaitingClusterVersion',
      `every member runs etcd ${formatVersion(version)}; etcd raises its cluster version to ${minorText(version)} by itself`,
      { on: 'time', afterSeconds: 2 },
    );
  }
  if (stale.length === 0 || membership.kind === 'unknown') return undefined;
  // After a rollback the volume says a higher one: the earlier entries of raft's log stay as they are.
  const entered = unnoted || stale.some(({ record }) => isMinorBelow(record.version, effective.inputs.version));
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
    `recording on the volumes of ${stale.map(({ name }) => name).join(', ')} that they run etcd ${formatVersion(version)}`,
  );
}

function prepareNextMinor({ effective, membership }: Situation): Decision | undefined {
  const { pending, inputs } = effective;
  if (!pending || membership.kind === 'unknown') return undefined;
  const { version } = inputs;
  if (pending.kind === 'snapshots') {
    return act(
      { kind: 'advance-log', clusterId: membership.clusterId, index: String(pending.index) },
      'PreparingUpgrade',
      `letting every member take a snapshot under etcd ${version}: ${pending.to} cannot read older entries of raft's log`,
    );
  }
  return wait('PreparingUpgrade', `etcd ${version} must settle before the upgrade to ${pending.to} begins`, {
    on: 'time',
    afterSeconds: 2,
  });
}
