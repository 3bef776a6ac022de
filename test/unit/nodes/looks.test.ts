import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Job, Pod } from '../../../manifests/kube-types.ts';
import { lookJob, lookJobName } from '../../../manifests/render/look-job.ts';
import { bootTimeIn, lookAt } from '../../../reconcile/nodes/agent/sentinel.ts';
import { answerOf, dueLooks } from '../../../reconcile/nodes/looks.ts';
import type { NodeSeen } from '../../../reconcile/nodes/observation.ts';
import { at, minutesAgo, nodeOf } from './seen.ts';

const hour = 3_600_000;
const looked = (minutes: number, word = 'none') => ({ marks: { looked: { at: minutesAgo(minutes), word } } });

function due(...nodes: readonly NodeSeen[]): readonly string[] {
  return dueLooks(nodes, hour, at).due.map(({ name }) => name);
}

test('a node is looked at when its last look is as long ago as the policy says', () => {
  assert.deepEqual(due(nodeOf('a'), nodeOf('b', looked(61)), nodeOf('c', looked(59))), ['a', 'b']);
  const { nextAt } = dueLooks([nodeOf('c', looked(59)), nodeOf('d', looked(10))], hour, at);
  assert.deepEqual(nextAt, new Date(at.getTime() + 60_000));
});

test('a look that a clock of the future has noted is due, and one of a few seconds ahead is not', () => {
  assert.deepEqual(due(nodeOf('a', looked(-600)), nodeOf('b', looked(-1))), ['a']);
});

const left: readonly (readonly [why: string, change: Partial<NodeSeen>])[] = [
  ['needs a reboot anyway', { needed: 'kernel' }],
  ['is under way', { marks: { granted: { at, word: 'id' } } }],
  ['is not Ready', { ready: false }],
  ['does not say which boot it runs', { bootId: '' }],
  ['is not selected', { selected: false }],
  ['is of another policy', { ofOther: 'first' }],
];
for (const [why, change] of left)
  test(`a node that ${why} is not looked at`, () => assert.deepEqual(due(nodeOf('a', change)), []));

test('ten nodes are looked at together, and the others have their turn later', () => {
  const nodes = Array.from({ length: 25 }, (_, index) => nodeOf(`node-${String(index).padStart(2, '0')}`));
  const found = dueLooks(nodes.toReversed(), hour, at);
  assert.deepEqual([found.due.length, found.due[0]?.name, found.isMore], [10, 'node-00', true]);
});

function jobOf(change: Partial<Job> = {}, created = at): Job {
  const made = lookJob({
    namespace: 'n',
    image: 'i',
    node: 'a',
    uid: 'u',
    bootId: 'b',
    path: '/var/run/reboot-required',
  });
  return { ...made, metadata: { ...made.metadata, uid: 'job', creationTimestamp: created.toISOString() }, ...change };
}

function podOf(message: string, owner = 'job'): Pod {
  const owned = { apiVersion: 'batch/v1', kind: 'Job', name: 'look', uid: owner, controller: true };
  return {
    metadata: { name: 'look-x', ownerReferences: [owned] },
    spec: { containers: [] },
    status: {
      containerStatuses: [
        { name: 'look', ready: false, restartCount: 0, state: { terminated: { exitCode: 0, message } } },
      ],
    },
  };
}

const complete = { status: { conditions: [{ type: 'Complete', status: 'True' }] } } as const;

test('a Job answers by the message of its own pod, and nothing else is an answer', () => {
  assert.equal(answerOf(jobOf(complete), [podOf('needed')], {}), 'needed');
  assert.equal(answerOf(jobOf(complete), [podOf('none')], {}), 'none');
  assert.equal(answerOf(jobOf(complete), [podOf('needed', 'another')], {}), 'failed');
  for (const text of ['', 'needed ', 'NEEDED', '\u001b[31mneeded', 'x'.repeat(4096)])
    assert.equal(answerOf(jobOf(complete), [podOf(text)], {}), 'failed', text.slice(0, 20));
  assert.equal(answerOf(jobOf(), [podOf('needed')], {}), 'under-way');
  const { metadata, ...rest } = jobOf(complete);
  const leaving = { ...rest, metadata: { ...metadata, deletionTimestamp: '2026-11-23T12:00:00Z' } };
  assert.equal(answerOf(leaving, [podOf('needed')], {}), 'under-way', 'it was noted, and is on its way out');
  const failed = { status: { conditions: [{ type: 'Failed', status: 'True' }] } } as const;
  assert.equal(answerOf(jobOf(failed), [podOf('needed')], {}), 'failed');
});

test('a Job from before the last look says nothing new', () => {
  assert.equal(answerOf(jobOf(complete, minutesAgo(5)), [podOf('needed')], looked(5).marks), 'stale');
  assert.equal(answerOf(jobOf(complete, minutesAgo(4)), [podOf('needed')], looked(5).marks), 'needed');
});

test('a look of another boot, Node object or file is another Job', () => {
  const order = { uid: 'u', bootId: 'b', path: '/var/run/a' };
  const names = [order, { ...order, uid: 'v' }, { ...order, bootId: 'c' }, { ...order, path: '/var/run/b' }];
  assert.equal(new Set(names.map(lookJobName)).size, 4);
  assert.match(lookJobName({ ...order, path: `/${'é'.repeat(500)}` }), /^look-[0-9a-f]{20}$/);
});

test('the pod of a look has no token, no rights, and the one directory read-only', () => {
  const { template } = jobOf().spec;
  const [container] = template.spec.containers;
  assert.equal(template.spec.automountServiceAccountToken, false);
  assert.equal(template.spec.hostPID, undefined);
  assert.deepEqual(template.spec.volumes, [{ name: 'sentinel', hostPath: { path: '/var/run', type: 'Directory' } }]);
  assert.deepEqual(container?.volumeMounts, [{ name: 'sentinel', mountPath: '/sentinel', readOnly: true }]);
  assert.partialDeepStrictEqual(template.spec.securityContext, { runAsNonRoot: true });
  assert.deepEqual(container?.securityContext, {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    readOnlyRootFilesystem: true,
  });
});

test('a file that is there says that a reboot is needed, one from before the boot does not', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sentinel-'));
  try {
    const [path, stat] = [join(directory, 'reboot-required'), join(directory, 'stat')];
    await writeFile(stat, 'cpu 1 2 3\nbtime 1700000000\nprocesses 4\n');
    assert.equal(await lookAt(path, stat), 'none');
    await writeFile(path, '');
    assert.equal(await lookAt(path, stat), 'needed');
    await utimes(path, 1_699_999_999, 1_699_999_999);
    assert.equal(await lookAt(path, stat), 'old');
    await rm(path);
    await symlink('/nowhere', path);
    assert.equal(await lookAt(path, stat), 'needed', 'a link is not followed');
    await assert.rejects(lookAt(join(stat, 'below-a-file'), stat));
    await writeFile(stat, 'cpu 1 2 3\n');
    await assert.rejects(lookAt(path, stat), /does not say when/);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('the time of the boot is read from its own line alone', () => {
  assert.equal(bootTimeIn('intr 1 btime 5\nbtime 12\n'), 12_000);
  for (const text of ['', 'btime', 'btime -1', 'btime 1e9', `btime ${'9'.repeat(16)}`, 'btime 12 13'])
    assert.throws(() => bootTimeIn(text), text);
});
