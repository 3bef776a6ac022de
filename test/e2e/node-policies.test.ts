import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { EtcdNodePolicy } from '../../manifests/api/etcd-node-policy.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { condition } from './support/conditions.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';

const stage = scene();
const role = resolve(import.meta.dirname, '../../manifests/install/components/node-reboots/fleet-role.yaml');
const binding = 'etcd-ratchet-fleet-nodes';

const policyYaml = (spec: Readonly<Record<string, unknown>>) =>
  JSON.stringify({
    ...{ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdNodePolicy', metadata: { name: 'from-git' } },
    spec: { nodeSelector: { none: 'has-this' }, ...spec },
  });

test('a node policy is applied from Git where an administrator lets the fleet in, and pruned', async () => {
  const { push, tick, namespace, kubectl, kube, fleet } = stage();
  const policy = () => kube.get<EtcdNodePolicy>(resources.nodePolicies, undefined, 'from-git');
  const told = async () => condition((await fleet()) as EtcdFleet, 'Stalled')?.message ?? '';
  const files = { 'clusters/idle.yaml': clusterYaml('idle', namespace, { suspend: true }) };
  await push({ ...files, 'clusters/policy.json': policyYaml({}) });
  await tick();
  assert.match(
    await told(),
    /may not create etcdnodepolicies\. To go on: .*create clusterrolebinding etcd-ratchet-fleet-nodes/,
  );
  assert.equal(await policy(), undefined);

  await kubectl(['apply', '--server-side', '-f', role]);
  const [, account = ''] = /--serviceaccount=(\S+)/.exec(await told()) ?? [];
  await kubectl(['create', 'clusterrolebinding', binding, `--clusterrole=${binding}`, `--serviceaccount=${account}`]);
  try {
    await tick();
    assert.equal((await policy())?.metadata.annotations?.['etcd.ratchet.dev/fleet-name'], `${namespace}/fleet`);
    await push({ ...files, 'clusters/policy.json': policyYaml({ suspend: true }) });
    await tick();
    assert.equal((await policy())?.spec.suspend, true);
    await kubectl(['-n', namespace, 'patch', 'etcdfleet', 'fleet', '--type=merge', '-p', '{"spec":{"prune":true}}']);
    await push(files);
    await tick();
    assert.equal(await policy(), undefined);
  } finally {
    await kubectl(['delete', 'clusterrolebinding', binding]);
    await kubectl(['delete', 'etcdnodepolicy', 'from-git', '--ignore-not-found']);
  }
});
