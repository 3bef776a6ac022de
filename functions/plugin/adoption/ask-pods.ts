import { abortAfter } from '../../../manifests/abort-after.ts';
import { tlsDefaults } from '../../../manifests/api/spec-defaults.ts';
import type { Secret } from '../../../manifests/kube-types.ts';
import {
  type Asking,
  type ExistingEndpoint,
  existingEndpoints,
  namingThem,
  type Sought,
} from '../../../reconcile/cluster/observe/ask-existing.ts';
import { credentialsIn, type EtcdAccess } from '../../../reconcile/cluster/observe/certificates/credentials.ts';
import { type EndpointStatus, EtcdError, type ListedMember } from '../../../reconcile/interfaces/etcd.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import type { Asked } from '../command.ts';

/** What the pod of a member says of itself, asked from this machine. */
interface Answer {
  readonly endpoint: ExistingEndpoint;
  readonly says: EndpointStatus | { readonly silent: string };
}

export interface Answers {
  readonly pods: readonly Answer[];
  /** Of the first cluster ID that answers, as a quorum has it; absent: none does. */
  readonly members?: readonly ListedMember[];
}

/** Milliseconds for each answer. */
const patience = 8000;

/** Asks them with the rights and from the place of this person. */
export async function askPods(cluster: Asking, sought: Sought, asked: Asked): Promise<Answers> {
  const { kube, reach, stop } = asked;
  const endpoints = await existingEndpoints(kube, cluster, sought, stop);
  if (endpoints.length === 0) return { pods: [] };
  const access = await accessTo(cluster, asked);
  if (access.kind === 'none')
    return { pods: endpoints.map((endpoint) => ({ endpoint, says: { silent: access.cause } })) };
  const etcd = await reach.etcd(access.kind === 'tls' ? namingThem(access.tls, endpoints) : undefined);
  const options = () => ({ signal: abortAfter(patience, stop) });
  try {
    const pods = await Promise.all(
      endpoints.map(async (endpoint) => ({
        endpoint,
        says: await etcd.status(endpoint.url, options()).catch(silence),
      })),
    );
    const first = pods.find(({ says }) => 'clusterId' in says)?.says;
    const urls = pods.flatMap(({ endpoint, says }) =>
      'clusterId' in says && first && 'clusterId' in first && says.clusterId === first.clusterId ? endpoint.url : [],
    );
    if (urls.length === 0) return { pods };
    const list = await etcd.members(urls, options()).catch(silence);
    return { pods, ...('members' in list && { members: list.members }) };
  } finally {
    etcd.close();
  }
}

function silence(error: unknown): { readonly silent: string } {
  if (!(error instanceof EtcdError)) throw error;
  return { silent: error.reason === 'UserNeeded' ? 'etcd authentication is on: it asks for a user' : error.message };
}

/** What the person provides for etcd-ratchet is what it asks with. */
async function accessTo(cluster: Asking, { kube, namespace, stop }: Asked): Promise<EtcdAccess> {
  const { mode = tlsDefaults.mode, provided } = cluster.spec.tls ?? {};
  if (mode === 'Disabled') return { kind: 'plaintext' };
  const name = provided?.clientSecretName;
  if (mode !== 'Provided' || name === undefined) {
    return { kind: 'none', cause: `not asked: spec.tls.mode is ${mode}, and names no Secret that its members accept` };
  }
  return credentialsIn(await kube.get<Secret>(resources.secrets, namespace, name, { signal: stop }), name, cluster, []);
}
