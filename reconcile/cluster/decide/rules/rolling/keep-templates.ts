import { isContested, pauseMinutes } from '../../../know/contested.ts';
import { act, type Decision, refuse, wait } from '../../../know/decision.ts';
import { driftInWords } from '../../../know/drift.ts';
import type { SetDrift, Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { hasRunHigher, mayGoBackTo } from '../../../know/versions/versions-run.ts';

/**
 * A StatefulSet that another client changed is written anew, before any rule restarts its member: what is in it passed
 * none of the checks that a spec passes, and `replicas: 0` is an outage. Where it comes back each time, it is left to a
 * person and written now and then: two clients that never agree must not write for ever.
 *
 * Guards I16.
 */
export function keepTemplates(situation: Situation): Decision | undefined {
  const drifted = situation.slots.filter((slot) => !keepsMinor(slot, situation)).flatMap(driftedOf);
  const changed = drifted.filter(({ drift }) => drift.kind === 'changed');
  // A birth restarts no member: it is finished all the same, unless one of its members was stopped.
  const holdsUp = ({ drift }: Drifted) =>
    situation.life.stage === 'born' || (drift.kind === 'changed' && drift.replicas !== undefined);
  const due = changed.filter(
    ({ name: target }) => !isContested({ action: 'put-back-templates', target, atOnce }, situation),
  );
  if (due.length > 0) {
    return act(
      { kind: 'put-back-templates', peers: due.map(({ name, uid }) => ({ name, uid })) },
      'PuttingBackTemplates',
      `${due.map(({ name, drift }) => driftInWords(name, drift)).join('; ')}: written as the spec asks, and no member is restarted for it`,
    );
  }
  const [contested] = changed.filter(holdsUp);
  if (contested) {
    return refuse(
      'ObjectContested',
      `${driftInWords(contested.name, contested.drift)}, again and again; no member is restarted on that`,
      `let that client leave StatefulSets of etcd-ratchet alone: version, image, flags and replicas are set in the spec of the EtcdCluster. It is written as the spec asks every ${pauseMinutes} minutes`,
    );
  }
  const [unknown] = drifted.filter(holdsUp);
  return unknown && unread(unknown);
}

function unread({ name, drift }: Drifted): Decision {
  const message = `${driftInWords(name, drift)}; no member is restarted`;
  if (drift.kind === 'unknown' && drift.mayPass)
    return wait('TemplateUnread', message, { on: 'time', afterSeconds: unreadSeconds });
  return refuse(
    'TemplateUnread',
    message,
    'let the API server take dry runs of StatefulSets: what a policy denies in them is changed in the spec of the EtcdCluster, an admission webhook for them needs sideEffects None or NoneOnDryRun, and the role of etcd-ratchet the right to update them',
  );
}

const unreadSeconds = 5;

interface Drifted {
  readonly name: string;
  readonly uid: string;
  readonly drift: SetDrift;
}

function driftedOf({ name, peer, statefulSet }: Slot): readonly Drifted[] {
  if (!statefulSet?.drift || !statefulSet.current || !peer?.current || peer.leaving) return [];
  return [{ name, uid: peer.uid, drift: statefulSet.drift }];
}

/** It ran what another client gave it, and may not go back (I6): `cure-configuration` writes it with that version. */
function keepsMinor(slot: Slot, situation: Situation): boolean {
  const told = slot.peer?.inputs.version;
  return told !== undefined && hasRunHigher(slot, told) && !mayGoBackTo(told, situation);
}

/** So often at once; later only after a pause. */
const atOnce = 3;
