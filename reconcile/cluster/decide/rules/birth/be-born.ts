import { isDeepStrictEqual } from 'node:util';
import { existingOf } from '../../../../../manifests/api/existing-cluster.ts';
import { peerName, peerUrl, schemeOf } from '../../../../../manifests/render/names.ts';
import type { VolumeRecord } from '../../../../../manifests/render/volume-record.ts';
import { offered } from '../../../../reasons/offers.ts';
import type { FirstStart } from '../../../know/actions/birth.ts';
import { restoringIn, sourceOfBirth, wantedSnapshot } from '../../../know/backups/restore.ts';
import { act, type Decision, refuse, wait } from '../../../know/decision.ts';
import { type BirthRecord, type Life, recordOf, tlsForLife } from '../../../know/life.ts';
import type { Slot } from '../../../know/observation.ts';
import { gaveUpBy } from '../../../know/recovery/outvoted.ts';
import type { Situation } from '../../../know/situation.ts';
import { isOnOtherDisk } from '../../../know/volumes/sealed-disk.ts';
import { firstStartOfBirth } from '../../first-start.ts';
import { restores } from '../../restoring.ts';
import { joinExisting } from '../adoption/join-existing.ts';
import { adoptable } from './adopt.ts';
import { refusedSnapshot } from './begin-from-snapshot.ts';
import { dueShared } from './support-members.ts';

/**
 * Birth: all volumes, peers and ConfigMaps first, then all StatefulSets, with one random token and one recorded member
 * list. A birth is finished exactly as recorded, whatever the spec says meanwhile.
 *
 * Guards I5: two halves of a cluster with different member lists, or a half that starts before the other half is
 * recorded, could form two clusters behind one Service.
 */
export function beBorn(situation: Situation): Decision | undefined {
  const { life } = situation;
  switch (life.stage) {
    case 'unclear':
      return refuse(life.reason, life.message, offered([...life.offers, ...restores(situation)]));
    case 'unborn':
      return conceive(situation);
    case 'birth':
      return (
        discardStrays(situation, life.strays) ??
        refuseOverData(situation, life) ??
        replaceUnbound(situation) ??
        prepare(situation, life.record)
      );
    case 'born':
      return discardStrays(situation, life.strays) ?? refuseOverData(situation, life);
  }
}

function conceive(situation: Situation): Decision {
  const { cluster, effective, nonce, lease } = situation;
  if (lease.kind === 'abandoned' && lease.action?.kind === 'prepare-members') {
    return act(
      lease.action,
      'PreparingMembers',
      'finishing the birth that another invocation began, as it recorded it',
    );
  }
  const invalid = effective.refusals[0];
  if (invalid) return refuse(invalid.reason, invalid.message, invalid.cure);
  if (effective.replicas === 0) {
    return refuse('NothingToHibernate', 'spec.replicas is 0, and there is no data yet', 'set spec.replicas to 3');
  }
  const existing = existingOf(cluster);
  if (existing) return joinExisting(existing, situation);
  const { name, namespace = '' } = cluster.metadata;
  const members = ordinalsOf(situation).map((ordinal) => peerName(name, ordinal));
  const scheme = schemeOf(effective.inputs.tls.mode);
  const record: VolumeRecord = {
    token: nonce,
    initialCluster: members.map((member) => ({ name: member, url: peerUrl(namespace, name, member, scheme) })),
    version: effective.inputs.version,
    ...tlsForLife(effective.inputs),
    state: 'bootstrapping',
    ...ofSnapshot(situation),
  };
  const shared = dueShared({ ...situation, effective: { ...effective, replicas: members.length } });
  const starts = startOfBirth(situation, members);
  return act(
    {
      kind: 'prepare-members',
      members: members.map((member) => ({ name: member, record })),
      inputs: effective.inputs,
      ...(shared && { shared }),
      ...(starts && { starts }),
    },
    'PreparingMembers',
    starts?.restores
      ? `recording the volume and peer of ${members.join(', ')}, and restoring it from ${cluster.spec.bootstrap?.snapshot?.object}`
      : starts
        ? `recording the volumes and peers of ${members.join(', ')}, and starting them when all are recorded`
        : `recording the volumes and peers of ${members.join(', ')} before any of them starts`,
  );
}

/** `undefined`: another step starts them, or restores the one that there is. */
function startOfBirth(situation: Situation, members: readonly string[]): FirstStart | undefined {
  const starts = firstStartOfBirth(situation, members, situation.nonce);
  const wanted = wantedSnapshot(situation.cluster);
  if (!starts || !wanted) return starts;
  const { id, source } = wanted;
  return refusedSnapshot(wanted, false, situation) ? undefined : { ...starts, restores: { id, source } };
}

/** From a snapshot one member is born, where nothing else ever was. */
function ordinalsOf({ cluster, effective, slots }: Situation): readonly number[] {
  const all = Array.from({ length: effective.replicas }, (_, ordinal) => ordinal);
  if (!wantedSnapshot(cluster)) return all;
  const taken = new Set(slots.map(({ ordinal }) => ordinal));
  let free = 0;
  while (taken.has(free)) free += 1;
  return [free];
}

function ofSnapshot({ cluster }: Situation): Partial<VolumeRecord> {
  const wanted = wantedSnapshot(cluster);
  if (!wanted) return {};
  return { state: 'restoring', recovery: { id: wanted.id, attempt: 0, lastSeenOn: {} } };
}

/**
 * A resource that asks for a restore, and finds volumes of its name. Those of the restore that it asks for go on; no
 * other data are taken for it, and nothing is written over them. A cluster with members is past that: it ignores the
 * wish. Its status says nothing: the cluster's ID stands there as soon as volumes that have it are seen.
 */
function refuseOverData(
  { cluster, slots }: Situation,
  life: Extract<Life, { stage: 'birth' | 'born' }>,
): Decision | undefined {
  const wanted = wantedSnapshot(cluster);
  const token = life.stage === 'born' ? life.token : life.record.token;
  const ours = slots.filter((slot) => recordOf(slot)?.token === token);
  const isBegun = life.stage === 'born' && slots.some(({ peer }) => peer?.current);
  if (!wanted || isBegun || ours.some((slot) => recordOf(slot)?.state === 'restoring')) return undefined;
  if (sourceOfBirth(slots, token) === wanted.source) return undefined;
  // It was rolled back since: the field of its birth says nothing of that.
  if (gaveUpBy(ours).length > 0) return undefined;
  const names = ours.map(({ name }) => name).join(', ');
  const whose = life.clusterId === undefined ? 'of a birth that was begun' : `of etcd cluster ${life.clusterId}`;
  return refuse(
    'RestoreOverData',
    `spec.bootstrap.snapshot asks for a restore, and the volumes ${names} are those ${whose}: nothing is restored over them`,
    offered([
      { loses: 'nothing', cure: 'to go on with them, remove spec.bootstrap.snapshot' },
      { loses: 'nothing', cure: 'to restore beside them, create an EtcdCluster of another name' },
      {
        loses: 'everything',
        cure: 'to give them up, delete the EtcdCluster and these PersistentVolumeClaims, and create it again',
      },
    ]),
  );
}

/** Made by an outdated invocation, under another token or after the birth, and never bound: it holds no data. */
function discardStrays({ slots }: Situation, strays: readonly Slot[]): Decision | undefined {
  const late = slots.flatMap((slot) => (slot.late ? [{ ...slot, volume: slot.late }] : []));
  const volumes = [...strays, ...late].flatMap(({ name, volume }) =>
    volume && !volume.leaving && !volume.bound ? [{ name, uid: volume.uid }] : [],
  );
  if (volumes.length === 0) return undefined;
  return act(
    { kind: 'delete-volumes', volumes },
    'DiscardingStrayVolumes',
    'deleting volumes of an abandoned birth: none was ever bound',
  );
}

/** A volume that was never bound holds no data: a wrong class or size is cured by recreating it. */
function replaceUnbound({ slots, effective }: Situation): Decision | undefined {
  const wrong = slots.find(
    ({ peer, volume }) =>
      peer !== undefined &&
      volume !== undefined &&
      !volume.bound &&
      !isRestoring({ volume }) &&
      // The mark names the new storage already, while the volume is still the old one.
      (peer.replacingVolume === volume.uid || !isDeepStrictEqual(peer.inputs.storage, effective.inputs.storage)),
  );
  if (!wrong?.volume) return undefined;
  if (wrong.volume.leaving) return oldVolumeLeaving(wrong);
  return act(
    {
      kind: 'replace-unbound-volume',
      volume: { name: wrong.name, uid: wrong.volume.uid },
      storage: effective.inputs.storage,
    },
    'ReplacingUnboundVolume',
    `recreating volume ${wrong.name} as the spec now asks: it was never bound`,
  );
}

/** It is sealed from the beginning, so nothing tells a new volume from a lost one. */
function isRestoring(slot: Pick<Slot, 'volume'>): boolean {
  return recordOf(slot)?.state === 'restoring';
}

function oldVolumeLeaving({ name }: Slot): Decision {
  return wait('OldVolumeLeaving', `the old volume of ${name} is being deleted`, { on: 'change', of: 'volumeClaims' });
}

function prepare({ slots, effective, membership }: Situation, record: BirthRecord): Decision | undefined {
  const departing = slots.find(
    (slot) =>
      slot.volume?.leaving &&
      recordOf(slot)?.token !== record.token &&
      record.initialCluster.some(({ name }) => name === slot.name),
  );
  // The record of a departing volume is not from this birth, and its name is not free yet.
  if (departing) return oldVolumeLeaving(departing);
  const incomplete = record.initialCluster.flatMap(({ name }) => {
    const slot = slots.find((candidate) => candidate.name === name);
    const isPrepared = slot?.configMap !== undefined || (slot && isOnOtherDisk(slot));
    if (slot?.volume && slot.peer && isPrepared && slot.peer.replacingVolume === undefined) return [];
    if (!slot?.volume && !mayMakeVolume(name, slot, slots, membership)) return [];
    const known = slot && recordOf(slot);
    // Nothing is made for a volume that goes: the rules below say so, and of a restore `begin-from-snapshot`.
    if (slot?.volume?.leaving && known) return [];
    if (known && !adoptable[known.state] && known.state !== 'restoring') return [];
    // Only what was restored may start there.
    if (!known && restoringIn(slots)) return [];
    const fresh: VolumeRecord = {
      token: record.token,
      initialCluster: record.initialCluster,
      version: record.version,
      tlsMode: record.tlsMode,
      ...(record.allowedNames && { allowedNames: record.allowedNames }),
      state: 'bootstrapping',
    };
    return [{ name, record: known ?? fresh }];
  });
  if (incomplete.length === 0) return undefined;
  return act(
    { kind: 'prepare-members', members: incomplete, inputs: effective.inputs },
    'PreparingMembers',
    `preparing ${incomplete.map(({ name }) => name).join(', ')} as the birth was recorded`,
  );
}

/**
 * Whether an empty volume may be made for a recorded member. Never for a member that may have started: no client was
 * admitted before the seals, but a voter that lost its log can still break the others.
 */
function mayMakeVolume(
  name: string,
  slot: Slot | undefined,
  slots: readonly Slot[],
  membership: Situation['membership'],
): boolean {
  // The mark alone is not enough: a sealed ConfigMap proves that the member has started since.
  if (slot?.peer?.replacingVolume !== undefined) return !slot.configMap?.immutable;
  if (slot?.peer || slot?.configMap) return false;
  if (membership.kind === 'known') return !membership.members.some((member) => member.name === name);
  return !slots.some((other) => recordOf(other)?.state === 'sealed');
}
