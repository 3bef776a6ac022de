import type { AuthChange } from '../../../../interfaces/etcd-auth.ts';
import { says } from '../../../../reasons/reasons.ts';
import type { AuthSeen } from '../../../know/actions/auth.ts';
import { changesTo } from '../../../know/auth/changes.ts';
import { madeIn } from '../../../know/auth/made.ts';
import { namesIn, wordsOfChange } from '../../../know/auth/told.ts';
import { act, type Decision, refuse } from '../../../know/decision.ts';
import { votersOf } from '../../../know/membership/voters.ts';
import type { Situation } from '../../../know/situation.ts';
import { someOf } from '../../../know/some-of.ts';
import { waitForStage } from '../../wait-for-stage.ts';
import { waitToBegin } from '../../wait-for-window.ts';

/** What one step may change, so that its lease fits into the status, and it ends in time. */
const most = { changes: 256, bytes: 48 * 1024 };

/**
 * etcd's users, roles and rights are as the spec says, and then etcd asks for them; or no longer does. Users come
 * first, also root and our own, so that from the moment it asks each that is listed has its rights.
 *
 * Where clients were asked before, by status, or are to be since the birth, that waits for no window, stage or room:
 * meanwhile each certificate opens all keys.
 *
 * Guards I19: it never asks before our own user is one that may do everything.
 */
export function keepAuth(situation: Situation): Decision | undefined {
  const { auth, membership, effective, cluster } = situation;
  const wanted = effective.auth;
  if (!wanted || !auth || membership.kind === 'unknown') return undefined;
  if (auth.kind === 'unknown') return unread(auth.cause);
  const seen: AuthSeen = {
    clusterId: membership.clusterId,
    memberIds: votersOf(membership.members).map(({ id }) => id),
    revision: auth.revision,
  };
  if (auth.enabled && !wanted.enabled) {
    const why = 'etcd no longer asks clients for their user, and lets in each one that its CA signed';
    return (
      waitForStage(situation) ?? waitToBegin(situation) ?? act({ kind: 'disable-auth', ...seen }, 'DisablingAuth', why)
    );
  }
  // To turn it off takes no look at users: where they can't be read, Git still can.
  if (auth.unread !== undefined) return unread(auth.unread);
  const changes = auth.content ? changesTo(wanted, auth.content, madeIn(cluster)) : [];
  const first = atOnce(changes);
  if (first.length > 0)
    return (
      waitForStage(situation) ??
      act({ kind: 'keep-users', ...seen, changes: first }, 'KeepingUsers', told(first, changes))
    );
  if (auth.enabled || !wanted.enabled) return undefined;
  const { own: user, secretName } = wanted;
  const why = `etcd begins to ask clients for their user, and knows ${wanted.users.size} by their certificates`;
  const action = { kind: 'enable-auth' as const, ...seen, user, secretName };
  const isOwed = cluster.status?.auth?.enabled === true || isBornSo(situation);
  const held = isOwed ? undefined : (waitForStage(situation) ?? waitToBegin(situation));
  return held ?? act(action, 'EnablingAuth', why);
}

/** Its birth was asked for by the spec that there is: clients were never served without authentication for long. */
function isBornSo({ cluster: { metadata, status } }: Situation): boolean {
  const { generation } = metadata;
  return (status?.history ?? []).some((one) => says(one, 'PreparingMembers') && one.generation === generation);
}

function unread(cause: string): Decision {
  return refuse(
    'AuthUnread',
    `etcd's users can't be read: ${cause}`,
    'let the certificate of etcd-ratchet be that of a user with the role root; delete users, roles or rights of others where there are too many to be read; or turn authentication off in Git',
  );
}

/** The first of them, as many as one step takes. */
function atOnce(changes: readonly AuthChange[]): readonly AuthChange[] {
  let bytes = 0;
  return changes.slice(0, most.changes).filter((change, index) => {
    bytes += JSON.stringify(change).length;
    return index === 0 || bytes <= most.bytes;
  });
}

function told(first: readonly AuthChange[], all: readonly AuthChange[]): string {
  if (all.length === 1 && first[0]) return `it ${wordsOfChange(first[0])}`;
  const more = all.length > first.length ? `, and ${all.length - first.length} in the steps that follow` : '';
  return `${first.length} changes of users and roles (${someOf(namesIn(first))})${more}`;
}
