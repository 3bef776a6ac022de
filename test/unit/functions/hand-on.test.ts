import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { chainLabel, followUpLabel, type Job } from '../../../functions/chain.ts';
import { handOn } from '../../../functions/hand-on.ts';
import { resources } from '../../../reconcile/kube.ts';
import type { FakeKube } from '../../fakes/kube.ts';
import { cronJob, installation, namespace } from '../serve/installation.ts';

/** Who was started for one push finds a chain under way: it may be just ending. */

let kube: FakeKube;
beforeEach(() => {
  kube = installation();
  link(1);
});

function link(number: number, status: Job['status'] = {}): void {
  kube.seed(resources.jobs, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `etcd-ratchet-a-${number}`,
      namespace,
      creationTimestamp: new Date().toISOString(),
      labels: { [followUpLabel]: 'true', [chainLabel]: 'a' },
    },
    status,
  } as Job);
}

function end(number: number): void {
  link(number, { conditions: [{ type: 'Complete', status: 'True' }] });
}

async function handedOn(during: (pauses: number) => void, signal = new AbortController().signal) {
  let pauses = 0;
  const asked = { kube, cronJob: { namespace, name: cronJob.metadata.name }, newChain: () => 'ours', signal };
  const result = await handOn(asked, async () => during(++pauses));
  const names = kube.stored<Job>(resources.jobs).map(({ metadata }) => metadata.name);
  return { result, pauses, ours: names.filter((name) => name.includes('-ours-')) };
}

test('a chain that ends without having seen it is followed by one of our own', async () => {
  const { result, pauses, ours } = await handedOn((pauses) => {
    if (pauses === 2) end(1);
  });
  assert.deepEqual([result.kind, pauses, ours], ['created', 2, ['etcd-ratchet-ours-1']]);
});

test('a successor sees everything: nothing is begun beside it, and nobody waits on', async () => {
  const { result, pauses, ours } = await handedOn(() => {
    end(1);
    link(2);
  });
  assert.deepEqual([result.kind, pauses, ours], ['under-way', 1, []]);
});

test('one that goes on beyond the time in which it would have ended has seen it: the wait is bounded', async () => {
  const { result, pauses, ours } = await handedOn(() => undefined);
  assert.deepEqual([result.kind, pauses, ours], ['under-way', 5, []]);
});

test('nobody waits who is asked to leave, nor where everything is suspended meanwhile', async () => {
  const leaving = new AbortController();
  const left = await handedOn(() => leaving.abort(), leaving.signal);
  assert.deepEqual([left.result.kind, left.pauses], ['under-way', 1]);
  const { result, ours } = await handedOn(() => {
    end(1);
    kube.seed(resources.cronJobs, { ...cronJob, spec: { ...cronJob.spec, suspend: true } });
  });
  assert.deepEqual([result.kind, ours], ['none', []]);
});

test('two that wait for the same end begin at most what one of them gives up at its next link', async () => {
  let turn = 0;
  const asked = { kube, cronJob: { namespace, name: cronJob.metadata.name }, signal: new AbortController().signal };
  const one = (chain: string) =>
    handOn({ ...asked, newChain: () => chain }, async () => {
      if (++turn === 2) end(1);
    });
  const kinds = (await Promise.all([one('b'), one('c')])).map(({ kind }) => kind);
  assert.ok(kinds.includes('created'), kinds.join());
});
