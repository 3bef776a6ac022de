import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { Secret } from '../../../../manifests/kube-types.ts';
import { type Authority, authoritySecretName, type LeafPlan } from '../../../../manifests/render/certificate-names.ts';
import { authorityRecordOf, isAuthorityOf } from '../../../../manifests/render/certificate-secret.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { isControlledBy } from '../../../../manifests/render/owner-reference.ts';
import { inspectAuthority } from '../../../x509/inspect.ts';
import { judgeSecret } from '../../../x509/judge.ts';
import { canSign } from '../../know/certificates/authority.ts';
import type { AuthorityView, LeafView, SecretState, Slot } from '../../know/observation.ts';
import { isForeign } from '../slots.ts';

/** Secrets as rules may see them: whose they are and what their certificates say. No key comes out of here. */

interface Place {
  readonly cluster: EtcdCluster;
  readonly slots: readonly Slot[];
  readonly at: Date;
}

/** One of the CAs that we sign with. */
export function authorityView(
  { cluster }: Pick<Place, 'cluster'>,
  which: Authority,
  secret: Secret | undefined,
): AuthorityView {
  const { name } = cluster.metadata;
  const base = { name: authoritySecretName(name, which) };
  if (!secret) return { ...base, state: 'missing' };
  if (!isAuthorityOf(name, secret)) return { ...base, state: 'foreign' };
  const found = inspectAuthority(secret.data ?? {});
  const sound = found.kind === 'readable' && canSign(found.authority);
  return {
    ...base,
    state: 'ours',
    ...(secret.metadata.uid !== undefined && { uid: secret.metadata.uid }),
    record: authorityRecordOf(secret),
    ...(sound && { facts: found.authority }),
  };
}

/** One leaf, as its Secret has it. */
export function leafView({ cluster, slots, at }: Place, plan: LeafPlan, secret: Secret | undefined): LeafView {
  const handedOverAt = secret?.metadata.annotations?.[annotations.handedOverAt];
  return {
    plan,
    state: stateOf(cluster, slots, plan, secret),
    ...judgeSecret({ data: secret && (secret.data ?? {}), plan, now: at }),
    ...(handedOverAt !== undefined && { handedOverAt: new Date(handedOverAt) }),
  };
}

function stateOf(
  cluster: EtcdCluster,
  slots: readonly Slot[],
  plan: LeafPlan,
  secret: Secret | undefined,
): SecretState {
  if (!secret) return 'missing';
  const owner =
    plan.peer === undefined ? cluster.metadata.uid : slots.find(({ name }) => name === plan.peer)?.peer?.uid;
  if (owner !== undefined && isControlledBy(secret, owner)) return 'ours';
  return isForeign(secret) ? 'foreign' : 'leftover';
}
