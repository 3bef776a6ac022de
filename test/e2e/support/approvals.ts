import assert from 'node:assert/strict';
import type { ApprovalAsked } from '../../../manifests/api/approval.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { approverOf } from '../../../manifests/render/names.ts';
import type { Scene } from './scene.ts';

/**
 * What the cluster's status asks a person to approve.
 *
 * @throws {AssertionError} with its conditions if that is not one thing.
 */
export function approvalAskedBy({ status }: EtcdCluster): ApprovalAsked {
  const [asked, ...others] = status?.approvals ?? [];
  assert.ok(asked && others.length === 0, JSON.stringify(status?.conditions));
  return asked;
}

/** As a person would, with kubectl. */
export async function approve(
  { kubectl, namespace }: Scene,
  name: string,
  { annotation, value }: Pick<ApprovalAsked, 'annotation' | 'value'>,
): Promise<void> {
  const by = await kubectl(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}']);
  const given = [`${annotation}=${value}`, `${approverOf(annotation)}=${by}`];
  await kubectl(['-n', namespace, 'annotate', '--overwrite', 'etcdcluster', name, ...given]);
}
