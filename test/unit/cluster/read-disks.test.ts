import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node, PersistentVolume } from '../../../manifests/kube-types.ts';
import type { Slot } from '../../../reconcile/cluster/know/observation.ts';
import { readDisk, readPlaces, withDisks } from '../../../reconcile/cluster/observe/read-disks.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKubeOptions } from '../../support/fakes/kube.ts';
import { all, healthy, silent, withEndpoint, without, withPod, withRecord, withVolume } from './observations.ts';

const { signal } = new AbortController();
const disk = all(
  withVolume({ disk: { pv: 'pv-1', state: 'unknown', homes: 'unknown' } }),
  withRecord({ disk: { pv: 'pv-1' } }),
);
const noon = new Date('2026-01-02T03:04:05Z');
const minutesAgo = (minutes: number) => new Date(noon.getTime() - minutes * 60_000);
const homeless = (minutes = 5) =>
  all(disk, withEndpoint(silent), (slot) => ({
    ...slot,
    ...(slot.pod && {
      pod: { ...slot.pod, ready: false, unscheduled: 'Unschedulable', createdAt: minutesAgo(minutes) },
    }),
  }));

function node(name: string, rest: Partial<Node> = {}): Node {
  return {
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
    ...rest,
  };
}

function local(host: string): PersistentVolume {
  const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: [host] }];
  return {
    metadata: { name: 'pv-1' },
    spec: {
      csi: { volumeHandle: 'disk-7' },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
    },
  };
}

async function read(
  change: (slot: Slot) => Slot,
  {
    pv,
    nodes = [],
    at = noon,
    ...options
  }: FakeKubeOptions & { pv?: PersistentVolume; nodes?: readonly Node[]; at?: Date } = {},
) {
  const kube = createFakeKube(options);
  if (pv) kube.seed(resources.persistentVolumes, pv);
  kube.seed(resources.nodes, ...nodes);
  const { cluster, slots } = healthy(3, { slots: { 1: change } });
  const places = await readPlaces(kube, slots, { at, cluster }, signal);
  const seen = withDisks(slots, places?.disks)[1]?.volume?.disk;
  return { places, disk: seen, asked: kube.journal().map(({ key }) => key) };
}

describe('what is behind a volume', () => {
  for (const [what, change] of [
    ['all is well', all(disk, withRecord({ disk: { pv: 'pv-1', handle: null } }))],
    ['a pod was made a moment ago, and finds no node', homeless(1)],
    ['a pod ends, as it was asked to', withPod({ leaving: true, endsBy: minutesAgo(1) })],
    [
      'a pod that waits has no disk yet',
      all(homeless(), withRecord({ state: 'joining' }), withVolume({ bound: false })),
    ],
  ] as const) {
    test(`costs no request while ${what}`, async () => assert.deepEqual((await read(change)).asked, []));
  }

  test('is read by name once its pod has long found no node, and then the nodes', async () => {
    const { disk, places, asked } = await read(homeless(), { pv: local('node-1'), nodes: [node('node-1')] });
    assert.deepEqual(asked, ['GET persistentvolumes', 'LIST nodes']);
    assert.partialDeepStrictEqual(disk, { pv: 'pv-1', handle: 'disk-7', state: 'present', homes: 'some' });
    assert.ok(disk?.createdAt);
    assert.deepEqual(Object.keys(places?.nodes ?? {}), ['node-1']);
  });

  test('costs no LIST of nodes where it can be used on every one of them', async () => {
    const { disk, asked } = await read(homeless(), { pv: { metadata: { name: 'pv-1' }, spec: {} } });
    assert.deepEqual(asked, ['GET persistentvolumes']);
    assert.partialDeepStrictEqual(disk, { state: 'present', homes: 'some' });
  });

  for (const [what, nodes, homes] of [
    ['is cordoned', [node('node-1', { spec: { unschedulable: true } }), node('node-2')], 'some'],
    ['is silent', [node('node-1', { status: {} }), node('node-2')], 'some'],
    ['is deleted', [node('node-2')], 'none'],
    ['is deleted, as every other one', [], 'unknown'],
  ] as const) {
    test(`has ${homes} node where its node ${what}`, async () => {
      assert.equal((await read(homeless(), { pv: local('node-1'), nodes })).disk?.homes, homes);
    });
  }

  test('is gone where its PersistentVolume is not there, and nothing else is told of it', async () => {
    assert.deepEqual((await read(homeless())).disk, { pv: 'pv-1', state: 'gone', homes: 'unknown' });
    assert.equal((await read(all(disk, withVolume({ lost: true })))).disk?.state, 'gone');
  });

  test('is unknown to an installation that may not read it', async () => {
    const authorize = ({ resource }: { resource: { plural: string } }) => resource.plural !== 'persistentvolumes';
    const { disk, places } = await read(homeless(), { pv: local('node-9'), nodes: [node('node-1')], authorize });
    assert.deepEqual(disk, { pv: 'pv-1', state: 'unknown', homes: 'unknown' });
    assert.equal(places?.nodes, undefined);
  });

  test('has unknown nodes for an installation that may not read those', async () => {
    const authorize = ({ resource }: { resource: { plural: string } }) => resource.plural !== 'nodes';
    const { disk, places } = await read(homeless(), { pv: local('node-9'), authorize });
    assert.partialDeepStrictEqual(disk, { state: 'present', homes: 'unknown' });
    assert.equal(places?.nodes, undefined);
  });

  for (const [what, note, times] of [
    ['its handle is not noted', { pv: 'pv-1' }, 10],
    ['its handle is noted', { pv: 'pv-1', handle: 'disk-7' }, 60],
    ['it is noted that it has none', { pv: 'pv-1', handle: null }, 60],
  ] as const) {
    test(`is read in one of ${times} looks at a member that is well where ${what}`, async () => {
      const looks = await Promise.all(
        Array.from({ length: 600 }, (_, minute) =>
          read(all(disk, withRecord({ disk: note })), { at: minutesAgo(minute), pv: local('node-1') }),
        ),
      );
      const asked = looks.flatMap((look) => look.asked);
      assert.ok(Math.abs(asked.length - 600 / times) <= 600 / times / 5, `${asked.length} requests`);
      assert.ok(asked.every((key) => key === 'GET persistentvolumes'));
    });
  }

  for (const [what, change] of [
    ['pod is not Ready', withPod({ ready: false })],
    ['pod ends', withPod({ leaving: true, endsBy: noon })],
    ['pod is gone', without('pod')],
  ] as const) {
    test(`is read while the ${what}: it may have been replaced under its PVC`, async () => {
      const found = await read(all(disk, withRecord({ disk: { pv: 'pv-1', handle: 'disk-7' } }), change));
      assert.deepEqual(found.asked, ['GET persistentvolumes']);
    });
  }

  test('may be read by name, by every look that needs it', async () => {
    const kube = createFakeKube();
    kube.seed(resources.persistentVolumes, local('node-1'));
    assert.partialDeepStrictEqual(await readDisk(kube, 'pv-1', signal), { handle: 'disk-7', state: 'present' });
    assert.deepEqual(await readDisk(kube, 'pv-2', signal), { pv: 'pv-2', state: 'gone' });
  });
});

test('nodes are read where a pod should long have ended', async () => {
  const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }];
  const { places } = await read(withPod({ leaving: true, endsBy: minutesAgo(3) }), {
    nodes: [node('a'), node('b', { status: {} }), node('c', { spec: { taints, unschedulable: true } })],
  });
  const found = Object.entries(places?.nodes ?? {}).map(([name, { state, schedulable }]) => [name, state, schedulable]);
  assert.deepEqual(found, [
    ['a', 'ready', true],
    ['b', 'silent', true],
    ['c', 'outOfService', false],
  ]);
});
