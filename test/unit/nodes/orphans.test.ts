import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../../../manifests/kube-types.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { orphansAmong, release } from '../../../reconcile/nodes/orphans.ts';
import { timestamp } from '../../../reconcile/time/timestamp.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { at, grantOf, minutesAgo, policyOf } from './seen.ts';

/** Marks that no policy has begun with are taken away; not those of a reboot that is going on. */

const mark = (minutes: number, word: string) => `${timestamp(minutesAgo(minutes))} ${word}`;
const nodeOf = (marks: Readonly<Record<string, string>>): Node => ({
  metadata: { name: 'node-1', uid: 'uid-1', resourceVersion: '1', annotations: marks },
  spec: {},
  status: { nodeInfo: { bootID: 'boot-1' } },
});
const granted = (minutes: number, word = 'lost') => ({ [annotations.rebootGranted]: mark(minutes, word) });
const going = (minutes: number, boot: string) => ({ [annotations.rebootInProgress]: mark(minutes, boot) });
const isOrphan = (marks: Readonly<Record<string, string>>) =>
  orphansAmong([nodeOf(marks)], [policyOf(), policyOf({}, [grantOf('node-2')])], at).length === 1;

test('only the mark of a grant that no policy has makes an orphan, and not at once', () => {
  assert.deepEqual([isOrphan({}), isOrphan(going(60, 'boot-1'))], [false, false]);
  assert.deepEqual([isOrphan(granted(60)), isOrphan(granted(60, 'id-node-2'))], [true, false]);
  assert.deepEqual([isOrphan(granted(1)), isOrphan(granted(3))], [false, true]);
  assert.deepEqual([isOrphan(granted(-1)), isOrphan(granted(-60))], [false, true], 'one of the future is a stranger');
});

test('a node that was told to go down is no orphan until its next boot, or until none will come', () => {
  assert.deepEqual([isOrphan({ ...granted(10), ...going(9, 'boot-1') })], [false]);
  assert.deepEqual([isOrphan({ ...granted(10), ...going(9, 'boot-0') })], [true], 'it has booted since');
  assert.deepEqual([isOrphan({ ...granted(20), ...going(16, 'boot-1') })], [true]);
});

test('an orphan that is gone or changed is left to the next pass, and any other failure is told', async () => {
  const releasing = (reason: string) => {
    const kube = createFakeKube({
      before: () => {
        throw new KubeError(reason, { class: 'terminal', reason });
      },
    });
    return release(kube, nodeOf(granted(60)), { at, id: 'id', signal: AbortSignal.timeout(10_000) });
  };
  for (const reason of ['Conflict', 'NotFound']) await releasing(reason);
  await assert.rejects(releasing('Forbidden'), { reason: 'Forbidden' });
  const kube = createFakeKube();
  kube.seed(resources.nodes, nodeOf(granted(60)));
  const [node] = kube.stored<Node>(resources.nodes);
  await release(kube, node ?? assert.fail(), { at, id: 'id', signal: AbortSignal.timeout(10_000) });
  const [left] = kube.stored<Node>(resources.nodes);
  assert.deepEqual(left?.metadata.annotations, { [annotations.rebootPutOff]: `${timestamp(at)} PolicyGone` });
});
