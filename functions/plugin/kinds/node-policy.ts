import type { EtcdNodePolicy } from '../../../manifests/api/etcd-node-policy.ts';
import { nodeMeanings } from '../../../reconcile/nodes/reasons.ts';
import { policyState } from '../../page/state.ts';
import { since } from '../words.ts';
import { factsOf, meaningIn, pastOf, type ShownKind } from './shown.ts';

export const nodePolicyShown: ShownKind<EtcdNodePolicy> = {
  state: policyState,
  meaningOf: meaningIn(nodeMeanings),
  facts({ status }, now) {
    const { nodes = 0, needed = 0, inProgress = 0, done = 0, grants = [], blocked = [], keeping = [] } = status ?? {};
    return factsOf(
      ['Nodes', `${nodes}: ${needed} need a reboot, ${inProgress} in progress, ${done} done`],
      ...grants.map(({ node, at, why }) => ['Under way', `${node}, for ${since(at, now)}: ${why}`] as const),
      ...blocked.map(({ node, reason, message }) => ['Waits', `${node}: ${reason}: ${message}`] as const),
      ...keeping.map(({ cluster, since: at }) => ['Keeps nodes', `${cluster}, for ${since(at, now)}`] as const),
    );
  },
  past({ metadata, status }) {
    const { grants = [], lastDone } = status ?? {};
    return pastOf(
      [metadata.creationTimestamp, 'made'],
      ...grants.map(({ node, at, why }) => [at, `reboot of ${node} begun`, why] as const),
      [lastDone?.at, `reboot of ${lastDone?.node} done`],
    );
  },
};
