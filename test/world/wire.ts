import { type LeafPlan, memberSecretName } from '../../manifests/build/certificate-names.ts';
import type { Secret } from '../../manifests/kube-types.ts';
import { inspectLeaf } from '../../reconcile/certificates/inspect.ts';
import type { AskWire } from '../../reconcile/cluster/certificates/read.ts';
import { resources } from '../../reconcile/kube.ts';
import type { State } from './state.ts';

/** What members present: at once what their Secrets have, because etcd re-reads its files at every handshake. */
export function wireOf({ kube, processes }: State): AskWire {
  return async ({ host, port, serverName }) => {
    if (![...processes.values()].some(({ address }) => address === host)) return undefined;
    const peer = serverName.split('.')[0]?.replace(/-0$/, '') ?? '';
    const purpose: LeafPlan['purpose'] = port === 2380 ? 'peer' : 'server';
    const name = memberSecretName(peer, purpose);
    const secret = kube.stored<Secret>(resources.secrets).find(({ metadata }) => metadata.name === name);
    const found = secret && inspectLeaf(secret.data ?? {});
    return found?.kind === 'readable' ? found.leaf.fingerprint : undefined;
  };
}
