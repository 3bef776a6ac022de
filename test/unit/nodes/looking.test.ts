import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdNodePolicy } from '../../../manifests/api/etcd-node-policy.ts';
import type { Event, Job, Node, Pod } from '../../../manifests/kube-types.ts';
import { lookJob } from '../../../manifests/render/look-job.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { type LookContext, type Looking, lookForSentinels } from '../../../reconcile/nodes/looking.ts';
import { timestamp } from '../../../reconcile/time/timestamp.ts';
import { createFakeKube, type FakeRequest } from '../../support/fakes/kube.ts';
import { at, minutesAgo, policyOf } from './seen.ts';

/** What a look does with each answer, and with each refusal of the API server. */

const path = '/var/run/reboot-required';
const namespace = 'reboots';
const policy = policyOf({ sentinel: { path, every: '10m' } });
const minute = 60_000;

function nodeWith({ looked, minutes = 60 }: Stage): Node {
  return {
    metadata: {
      name: 'node-1',
      uid: 'uid-1',
      ...(looked !== undefined && {
        annotations: { [annotations.rebootLooked]: `${timestamp(minutesAgo(minutes))} ${looked}` },
      }),
    },
    status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { bootID: 'boot-1' } },
  };
}

/** `answer`: of a Job that is there and over; `failed`: it came to nothing; `runs`: it has no answer yet. */
interface Stage {
  readonly answer?: string;
  /** What the last look came to, an hour ago or so many minutes. */
  readonly looked?: string;
  readonly minutes?: number;
  readonly before?: (request: FakeRequest) => void;
  readonly image?: () => Promise<string>;
  readonly policy?: EtcdNodePolicy;
  readonly dryRun?: boolean;
  /** When the Job that is there was made. */
  readonly made?: Date;
  /** Nodes beside the first one, whose looks are due as well. */
  readonly others?: number;
}

async function look(stage: Stage) {
  const { answer, before, image = async () => 'ratchet:1', dryRun = false, made = at, others = 0 } = stage;
  const { policy: asked = policy } = stage;
  const kube = createFakeKube({ clock: () => at, ...(before && { before }) });
  const logged: string[] = [];
  const context: LookContext = {
    kube,
    etcd: async () => assert.fail('a look asks no etcd'),
    wire: async () => assert.fail('nor any member'),
    holder: { pod: 'pod-1', uid: 'u1' },
    nonce: () => '0123456789abcdef0123456789abcdef',
    log: (_, message) => logged.push(message),
    dryRun,
    rebootsIn: namespace,
    image,
    signal: AbortSignal.timeout(10_000),
  };
  kube.seed(resources.nodes, nodeWith(stage));
  for (let index = 0; index < others; index += 1) {
    const { metadata, ...node } = nodeWith(stage);
    kube.seed(resources.nodes, { ...node, metadata: { ...metadata, name: `other-${index}`, uid: `other-${index}` } });
  }
  if (answer !== undefined) {
    const job = lookJob({ namespace, image: 'ratchet:1', node: 'node-1', uid: 'uid-1', bootId: 'boot-1', path });
    const creationTimestamp = made.toISOString();
    kube.seed(resources.jobs, {
      ...job,
      metadata: { ...job.metadata, uid: 'job', creationTimestamp },
      ...endOf(answer),
    });
    kube.seed(resources.pods, podOf(job, answer));
  }
  const { items: nodes } = await kube.list<Node>(resources.nodes, {});
  const looking = await lookForSentinels(asked, { nodes, policies: [asked] }, context);
  const [node] = kube.stored<Node>(resources.nodes);
  const mark = node?.metadata.annotations?.[annotations.rebootLooked];
  return {
    looking,
    logged,
    mark: mark?.split(' ')[1],
    wish: node?.metadata.annotations?.[annotations.rebootNeeded],
    jobs: kube.stored<Job>(resources.jobs).length,
    events: kube.stored<Event>(resources.events).map(({ reason, type }) => `${type} ${reason}`),
    asked: kube.journal().map(({ key }) => key),
  };
}

function endOf(answer: string): Pick<Job, 'status'> {
  if (answer === 'runs') return {};
  return { status: { conditions: [{ type: answer === 'failed' ? 'Failed' : 'Complete', status: 'True' }] } };
}

function podOf({ metadata: { name } }: Job, message: string): Pod {
  const state = { terminated: { exitCode: 0, message } };
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid: 'job', controller: true };
  return {
    metadata: { name: 'x', namespace, labels: { 'batch.kubernetes.io/job-name': name }, ownerReferences: [owner] },
    spec: { containers: [] },
    status: { containerStatuses: [{ name: 'look', ready: false, restartCount: 0, state }] },
  };
}

const failing = (key: string, facts: ConstructorParameters<typeof KubeError>[1]) => (request: FakeRequest) => {
  if (request.key === key) throw new KubeError(`${key}: ${facts.reason}`, facts);
};

const open: Looking = { underWay: true };
const answered: Looking = { underWay: false };

test('a node whose look is due gets a Job, and one that runs is waited for', async () => {
  const made = await look({});
  assert.deepEqual([made.looking, made.jobs, made.mark], [open, 1, undefined]);
  const runs = await look({ answer: 'runs' });
  assert.deepEqual([runs.looking, runs.jobs, runs.mark], [open, 1, undefined]);
});

test('an answer is noted, its Job goes, and only a sentinel that is new makes a reboot needed', async () => {
  for (const answer of ['needed', 'old', 'none', 'failed']) {
    const found = await look({ answer });
    assert.deepEqual([found.looking, found.jobs, found.mark], [answered, 0, answer]);
    assert.equal(found.wish, answer === 'needed' ? path : undefined, answer);
  }
});

test('an answer is news where it is another one than before, and a new sentinel always is', async () => {
  for (const [answer, looked, told] of [
    ['none', 'failed', []],
    ['old', 'none', ['Warning SentinelStays']],
    ['old', 'old', []],
    ['failed', 'failed', []],
    ['needed', 'needed', ['Normal SentinelFound']],
  ] as const)
    assert.deepEqual((await look({ answer, looked })).events, told, `${answer} after ${looked}`);
});

test('an answer that the Node has no room for any more keeps its Job, and ends no other look', async () => {
  for (const reason of ['Conflict', 'NotFound']) {
    const before = failing('PUT nodes', { class: 'precondition', reason });
    const { looking, jobs, logged } = await look({ answer: 'needed', before });
    assert.deepEqual([looking, jobs, logged], [open, 1, []], reason);
  }
});

test('an API server that is busy is asked again, and no node is told to have failed', async () => {
  const busy = { class: 'retryable', status: 503, reason: 'ServiceUnavailable' } as const;
  const made = await look({ before: failing('POST jobs', busy) });
  assert.deepEqual([made.looking, made.mark, made.logged.length], [open, undefined, 1]);
  const noted = await look({ answer: 'needed', before: failing('PUT nodes', busy) });
  assert.deepEqual([noted.looking, noted.jobs, noted.logged.length], [open, 1, 1]);
});

test('a Job that another invocation has just made is waited for, and a refused one is told', async () => {
  const exists = await look({ before: failing('POST jobs', { class: 'precondition', reason: 'AlreadyExists' }) });
  assert.deepEqual([exists.looking, exists.mark, exists.logged], [open, undefined, []]);
  const refused = await look({ before: failing('POST jobs', { class: 'terminal', status: 403, reason: 'Forbidden' }) });
  assert.deepEqual([refused.looking, refused.mark, refused.events], [answered, 'failed', ['Warning LookFailed']]);
});

test('a defect of ours is told as one', async () => {
  await assert.rejects(look({ image: () => assert.fail('a defect') }), /a defect/);
});

test('between two looks nothing is asked, and the time of the next one is known', async () => {
  const { looking, asked } = await look({ looked: 'none', minutes: 1 });
  assert.deepEqual(looking, { underWay: false, nextAt: new Date(at.getTime() + 9 * minute) });
  assert.deepEqual(asked, ['LIST nodes']);
});

test('nothing is looked for without a sentinel, while suspended, in a plan, or at the end', async () => {
  const { metadata, spec, ...rest } = policy;
  for (const stage of [
    { policy: policyOf() },
    { policy: { ...policy, spec: { ...spec, suspend: true } } },
    { dryRun: true },
    { policy: { ...rest, spec, metadata: { ...metadata, deletionTimestamp: timestamp(at) } } },
  ]) {
    const { looking, asked } = await look(stage);
    assert.deepEqual([looking, asked], [answered, ['LIST nodes']]);
  }
});

test('a Job from before the last look goes without an answer, and another one is to come', async () => {
  const { looking, jobs, mark } = await look({ answer: 'needed', looked: 'none', minutes: 11, made: minutesAgo(12) });
  assert.deepEqual([looking, jobs, mark], [open, 0, 'none']);
});

test('while more looks are due than are made at a time, the next step has more to do', async () => {
  const refused = failing('POST jobs', { class: 'terminal', status: 403, reason: 'Forbidden' });
  assert.deepEqual((await look({ before: refused, others: 9 })).looking, answered);
  assert.deepEqual((await look({ before: refused, others: 10 })).looking, open);
});
