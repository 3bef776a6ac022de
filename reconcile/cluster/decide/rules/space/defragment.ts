import { parseQuantity } from '../../../../../manifests/api/quantity.ts';
import { defragmentationDefaults } from '../../../../../manifests/api/spec-defaults.ts';
import { defragmentRequestOf } from '../../../../../manifests/render/defragment-request.ts';
import { kubectlRatchet } from '../../../../../manifests/render/kubectl.ts';
import { annotations } from '../../../../../manifests/render/names.ts';
import type { ActionOf } from '../../../know/action.ts';
import { act, type Decision, type Refused, refuse } from '../../../know/decision.ts';
import { successorOf } from '../../../know/membership/leadership.ts';
import type { Situation } from '../../../know/situation.ts';
import { type Database, databasesOf, newestOf } from '../../../know/space/databases.ts';
import { wasAsked } from '../../../know/space/defragmented.ts';
import { waitToBegin } from '../../wait-for-window.ts';

/** The shortest time between two defragmentations of a member, whatever came of the first, in seconds. */
const atMostEvery = 3600;

/**
 * Members whose database files are much larger than their content free that space, and members that a person asks for
 * do, whatever it frees: one at a time, the leader last. etcd itself never does it: its files only grow. A member that
 * defragments answers no requests meanwhile.
 */
export function defragment(situation: Situation): Decision | undefined {
  const next = databasesOf(situation)?.find(
    (database) => !database.isLearner && (isAsked(database, situation) || pays(database, situation)),
  );
  if (!next) return undefined;
  const held = waitToBegin(situation);
  if (held) return held;
  const alone = successorOf(next.slot, situation) === undefined;
  return act(
    defragmentation(next, situation),
    'Defragmenting',
    `${next.slot.name} defragments its database${alone ? '; no other member answers meanwhile' : ''}`,
  );
}

/** By a request of a person, once: the peer records the attempt before etcd is asked. */
function isAsked({ slot }: Database, { cluster, at }: Situation): boolean {
  const request = defragmentRequestOf(cluster, at);
  if (request.kind !== 'asked' || request.since > at) return false;
  const last = slot.peer?.defragmented;
  return last === undefined || last.at < request.since;
}

function pays({ slot, size, used }: Database, { cluster, at }: Situation): boolean {
  const { mode, minReclaim, maxUsedPercent } = { ...defragmentationDefaults, ...cluster.spec.defragmentation };
  if (mode === 'Disabled' || size - used < Math.max(1, parseQuantity(minReclaim))) return false;
  return used * 100 <= maxUsedPercent * size && !wasAsked(slot, at, { within: atMostEvery });
}

/** A request that says nothing has no effect, and a person waits for one. */
export function nameUnreadableRequest({ cluster, at }: Situation): readonly Refused[] {
  const request = defragmentRequestOf(cluster, at);
  if (request.kind !== 'unreadable') return [];
  const { name, namespace } = cluster.metadata;
  const message = `the annotation ${annotations.defragment} ${request.problem}: no member is defragmented for it`;
  return [
    refuse(
      'InvalidRequest',
      message,
      `set it anew: ${kubectlRatchet(namespace ?? 'default', `defrag ${name}`)}; or remove it`,
    ),
  ];
}

/** Any member may be the leader by the time that it is asked, so a successor is named. */
export function defragmentation(
  { slot, memberId, size }: Database,
  situation: Situation,
): ActionOf<'defragment-member'> {
  const { membership, at, hasHistory } = situation;
  const successor = successorOf(slot, situation);
  return {
    kind: 'defragment-member',
    name: slot.name,
    memberId,
    clusterId: membership.kind === 'known' ? membership.clusterId : '',
    size,
    at: at.toISOString(),
    ...(hasHistory === false && { bareAt: String(newestOf(databasesOf(situation) ?? [])) }),
    ...(successor && { successor }),
  };
}
