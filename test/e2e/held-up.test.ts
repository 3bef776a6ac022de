import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { condition, isStalledFor, isWhole } from './support/conditions.ts';
import { node } from './support/node.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

const stage = scene({ fleet: false, clearedBetween: true });

const healing = { podGracePeriod: '5s', memberGracePeriod: '25s' };

test('pods that a ResourceQuota refuses are named, and the birth goes on when they are admitted', async () => {
  const { kubectl, namespace, kube, tickUntil } = stage();
  const quota = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'small' },
    spec: { hard: { pods: '0' } },
  };
  await kubectl(['-n', namespace, 'apply', '--server-side', '-f', '-'], { stdin: JSON.stringify(quota) });
  // Admission reads it from a cache of its own.
  const quotas = { apiVersion: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas' } as const;
  await until('the quota counts', async () => {
    type Quota = { metadata: { name: string }; status?: { hard?: object } };
    return (await kube.get<Quota>(quotas, namespace, 'small'))?.status?.hard !== undefined;
  });
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml('quota', namespace, { healing }) });
  const isRefused = isStalledFor('PodRefused');
  const words = /exceeded quota: small/;
  await tickUntil('quota', (found) => isRefused(found) && words.test(condition(found, 'Stalled')?.message ?? ''), 90);
  await kubectl(['-n', namespace, 'delete', 'resourcequota', 'small']);
  await tickUntil('quota', isWhole, 180);
});

test('a volume that can’t be mounted costs its member, after its pod was made anew in vain', async () => {
  const { kubectl, namespace, tickUntil, access, kube } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml('broken', namespace, { healing }) });
  const cluster = await tickUntil('broken', isWhole, 120);
  const writer = startWriter(await access('broken'), 'healing');
  await until('fifty writes', async () => writer.acknowledged >= 50);
  const victim = cluster.status?.members?.find(({ name }) => name !== cluster.status?.leader)?.name ?? assert.fail();
  await node().failMounts(namespace, victim, true);
  await kubectl(['-n', namespace, 'delete', 'pod', `${victim}-0`]);
  const healed = await tickUntil(
    'broken',
    (now) => isWhole(now) && now.status?.members?.every(({ name }) => name !== victim) === true,
    180,
  );
  const reasons = (healed.status?.history ?? []).map(({ reason }) => reason);
  assert.ok(reasons.indexOf('RecreatingPod') < reasons.indexOf('ReplacingMember'), reasons.join());
  const why = healed.status?.history?.find(({ reason }) => reason === 'ReplacingMember')?.message ?? '';
  assert.match(why, /FailedMount: MountVolume.*wrong fs type/);
  const { items } = await kube.list<Event>(resources.events, { namespace, fieldSelector: 'reason=FailedMount' });
  assert.ok(items.some(({ type, regarding }) => type === 'Warning' && regarding?.name === `${victim}-0`));
  const { acknowledged, lost } = await writer.finish();
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
});
