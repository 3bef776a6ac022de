import type { ExistingCluster } from '../../../../../manifests/api/existing-cluster.ts';
import type { VolumeRecord } from '../../../../../manifests/render/volume-record.ts';
import { authenticationIsOn, type Misfit, misfitOf, wrongMode } from '../../../know/adoption/existing-fitness.ts';
import { inheritedIn } from '../../../know/adoption/inherited.ts';
import { act, type Decision, refuse } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';
import { learnersFail } from '../../failed-joins.ts';
import { firstStartOfLearner } from '../../first-start.ts';
import { freeName } from '../../free-name.ts';
import { dueShared } from '../birth/support-members.ts';

/**
 * Birth beside members of another origin: the first member joins their cluster as a learner, as every other one does
 * later. Nothing is begun anew: the data, the ID and the history of the cluster stay.
 *
 * Guards I3. Guards I9: the list is that of the cluster whose ID the spec names, a quorum tells it, and each of its
 * members answers.
 */
export function joinExisting(existing: ExistingCluster, situation: Situation): Decision {
  const { membership, effective, nonce } = situation;
  const { inputs } = effective;
  if (membership.kind === 'unknown') {
    const wrong = wrongMode({ inputs, members: [] });
    if (wrong) return notFit(wrong);
    if (membership.wantsUser) return notFit(authenticationIsOn);
    return refuse(
      'ExistingUnreachable',
      `the member list of the cluster that spec.bootstrap.existing names is unknown: ${membership.cause}`,
      'correct what the message names: podLabels and clientPort must lead to its pods, and with TLS they must accept the client certificate of spec.tls',
    );
  }
  const { clusterId, members } = membership;
  const misfit = misfitOf({ existing, inputs, members, inherited: inheritedIn(situation) });
  if (misfit) return notFit(misfit);
  const failing = learnersFail(situation);
  if (failing) return failing;
  const { name, url } = freeName(situation, members);
  const others = members.map((member) => ({ name: member.name, url: member.peerURLs[0] ?? '' }));
  const record: VolumeRecord = {
    token: nonce,
    initialCluster: [...others, { name, url }],
    clusterId,
    version: inputs.version,
    tlsMode: inputs.tls.mode,
    state: 'joining',
  };
  const starts = firstStartOfLearner(situation, name, nonce);
  const shared = dueShared(situation);
  return act(
    {
      kind: 'prepare-members',
      members: [{ name, record }],
      inputs,
      ...(shared && { shared }),
      ...(starts && { starts: { ...starts, joins: { url, clusterId } } }),
    },
    'JoiningExisting',
    `recording ${name}, the first member of ours: it joins etcd cluster ${clusterId} as a learner, which has no vote yet`,
  );
}

function notFit({ message, cure }: Misfit): Decision {
  return refuse('ExistingNotFit', `the existing cluster is not joined: ${message}`, cure);
}
