import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { kubectlRatchet } from '../integration/manifests/kubectl-ratchet.ts';
import { approvalAskedBy, approve } from './support/approvals.ts';
import { connectTo } from './support/client.ts';
import { isConverged, isStalledFor } from './support/conditions.ts';
import { byHand, type Existing, startExisting } from './support/existing.ts';
import { readKey, writeKey } from './support/keys.ts';
import { likeAenix, likeImprobable } from './support/relics.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';

const stage = scene({ clearedBetween: true });

interface Told {
  readonly existing?: { readonly clusterID: string; readonly memberIDs: readonly string[] };
  readonly planned?: { readonly end: { readonly kind: string; readonly reason: string; readonly message: string } };
  readonly refusal?: string;
}

/** What `kubectl ratchet adopt` says of pods with these labels, and of a document that names no cluster yet. */
async function asked(
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<{ readonly look: Told; readonly plan: Told }> {
  await using plugin = await kubectlRatchet(process.env.KUBECONFIG ?? assert.fail('KUBECONFIG is not set'));
  const { namespace } = stage();
  const file = join(plugin.directory, `${name}.yaml`);
  await writeFile(file, clusterYaml(name, namespace, { replicas: 1, tls: { mode: 'Disabled' } }));
  const pods = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join();
  const common = ['-n', namespace, 'adopt', name, '--plan', '--pods', pods, '-o', 'json'];
  const tell = async (...more: readonly string[]): Promise<Told> => {
    const { code, stdout, stderr } = await plugin.ratchet(...common, ...more);
    return code === 0 ? JSON.parse(stdout) : { refusal: stderr };
  };
  return { look: await tell(), plan: await tell('-f', file) };
}

function idsOf({ clusterID, memberIDs }: Existing) {
  return { clusterID, memberIDs };
}

test('a ReplicaSet with variables and short names, as of improbable, is found and taken over', async () => {
  const { namespace, kubectl, tickUntil, pushCluster, access } = stage();
  const relic = { name: 'relic', labels: { 'etcd.improbable.io/cluster-name': 'relic' } };
  const existing = await startExisting(stage(), likeImprobable(namespace, relic), { ...relic, replicas: 1 });
  await writeKey(existing.access, 'balance', '42');

  const { look, plan } = await asked('orders', relic.labels);
  assert.partialDeepStrictEqual(look.existing, idsOf(existing), JSON.stringify(look));
  assert.equal(plan.planned?.end.kind, 'done', JSON.stringify(plan));

  const fields = { replicas: 1, tls: { mode: 'Disabled' }, bootstrap: { existing: look.existing } };
  await pushCluster('orders', fields);
  const asking = await tickUntil('orders', isStalledFor('AdoptionNotApproved'), 120);
  assert.equal(asking.status?.clusterID, existing.clusterID);
  await approve(stage(), 'orders', approvalAskedBy(asking));
  await tickUntil('orders', isConverged, 90);
  await kubectl(['-n', namespace, 'delete', 'replicaset', 'relic-0']);
  assert.equal(await readKey(await access('orders'), 'balance'), '42');
});

test('peers with certificates of their own making, as aenix has them, are refused by name', async () => {
  const { namespace } = stage();
  const relic = { name: 'cosy', labels: { 'app.kubernetes.io/instance': 'cosy' } };
  const existing = await startExisting(stage(), likeAenix(namespace, relic), { ...relic, replicas: 1 });
  const { look, plan } = await asked('parcels', relic.labels);
  assert.partialDeepStrictEqual(look.existing, idsOf(existing), JSON.stringify(look));
  assert.equal(plan.planned?.end.reason, 'ExistingNotFit');
  assert.match(plan.planned.end.message, /--peer-auto-tls/);
});

test('etcd authentication is refused by name, and nothing is made', async () => {
  const { namespace, tickUntil, pushCluster } = stage();
  const spec = { name: 'guarded', replicas: 1, labels: { app: 'guarded' } };
  const existing = await startExisting(stage(), byHand(namespace, spec), spec);
  const client = connectTo(existing.access, 5000);
  const user = client.user('root');
  await user.create('a password of this test');
  await client.role('root').create().catch(alreadyThere);
  await user.addRole('root');
  await client.auth.authEnable();
  client.close();

  const { look, plan } = await asked('vault', spec.labels);
  assert.match(look.refusal ?? '', /authentication is on/, JSON.stringify(look));
  assert.match(plan.refusal ?? '', /authentication is on/, JSON.stringify(plan));
  const { clusterID, memberIDs, podLabels } = existing;
  const fields = {
    replicas: 1,
    tls: { mode: 'Disabled' },
    bootstrap: { existing: { clusterID, memberIDs, podLabels } },
  };
  await pushCluster('vault', fields);
  const { status } = await tickUntil('vault', isStalledFor('ExistingNotFit'), 60);
  const stalled = status?.conditions?.find(({ type }) => type === 'Stalled');
  assert.match(stalled?.message ?? '', /authentication is on.*auth disable/);
  assert.equal(status?.members?.length ?? 0, 0, 'nothing was made');
});

/** etcd 3.6 makes the role with the user. */
function alreadyThere(error: unknown): void {
  if (!(error instanceof Error) || !/role name already exists/.test(error.message)) throw error;
}
