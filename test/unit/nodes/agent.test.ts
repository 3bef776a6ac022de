import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../../../manifests/kube-types.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { carryOutOrder, parseMethod, type RebootContext, tellHost } from '../../../reconcile/nodes/agent/agent.ts';
import { orderIn } from '../../../reconcile/nodes/agent/order.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';

const time = '2026-11-23T12:00:00Z';
const job = '5b1f8f9e-1111-2222-3333-444455556666';
const grant = { id: 'id', bootID: 'boot-1' };
const ordered = { [annotations.rebootGranted]: `${time} id`, [annotations.rebootNow]: `${time} ${job}` };

function seeded(found: Readonly<Record<string, string>>, bootID = 'boot-1', unschedulable = true): FakeKube {
  const kube = createFakeKube();
  const node: Node = {
    metadata: { name: 'node-1', annotations: found },
    spec: { unschedulable },
    status: { nodeInfo: { bootID } },
  };
  kube.seed(resources.nodes, node);
  return kube;
}

async function run(kube: FakeKube, changes: Partial<RebootContext> = {}) {
  let reboots = 0;
  const reboot = async () => {
    reboots += 1;
  };
  const signal = AbortSignal.timeout(5_000);
  const pause = async () => false;
  const words = await carryOutOrder({ kube, node: 'node-1', job, grant, signal, reboot, pause, ...changes });
  return { words, reboots, node: kube.stored<Node>(resources.nodes)[0]?.metadata.annotations ?? {} };
}

test('the agent takes its order away, notes the boot, and then reboots', async () => {
  const kube = seeded(ordered);
  let atReboot: Readonly<Record<string, string>> = {};
  await run(kube, {
    reboot: async () => {
      atReboot = kube.stored<Node>(resources.nodes)[0]?.metadata.annotations ?? {};
    },
  });
  assert.equal(atReboot[annotations.rebootNow], undefined);
  assert.match(atReboot[annotations.rebootInProgress] ?? '', / boot-1$/);
});

test('an agent that is started again after the reboot does nothing', async () => {
  const kube = seeded(ordered);
  assert.equal((await run(kube)).reboots, 1);
  assert.deepEqual((await run(kube)).reboots, 0);
});

test('a Job or a boot without a name is none that a Node could mean', () => {
  const at = new Date(time);
  const node = (now: string, bootId: string) => ({
    ...{ name: 'node-1', bootId, unschedulable: true },
    marks: { granted: { at, word: 'id' }, now: { at, word: now } },
  });
  assert.equal(orderIn(node(job, 'boot-1'), { job, grant }).kind, 'taken');
  assert.equal(orderIn(node('', 'boot-1'), { job: '', grant }).kind, 'none');
  assert.equal(orderIn(node(job, ''), { job, grant: { ...grant, bootID: '' } }).kind, 'none');
});

test('an agent tries again after a conflict alone', async () => {
  for (const [code, reboots] of [
    [409, 1],
    [403, 0],
  ] as const) {
    const kube = seeded(ordered);
    const put = kube.update.bind(kube);
    let tries = 0;
    const once: typeof kube.update = async (...args) => {
      tries += 1;
      if (tries > 1) return put(...args);
      const reason = code === 409 ? 'Conflict' : 'Forbidden';
      throw new KubeError(reason, { class: code === 409 ? 'precondition' : 'terminal', status: code, reason });
    };
    const ended = await run({ ...kube, update: once }).catch((error: Error) => ({ words: error.message, reboots: 0 }));
    assert.equal(ended.reboots, reboots, ended.words);
    assert.equal(tries, code === 409 ? 2 : 1);
  }
});

const strangers: readonly (readonly [why: string, found: Readonly<Record<string, string>>])[] = [
  ['there is no order', { [annotations.rebootGranted]: `${time} id` }],
  ['the order names another Job', { ...ordered, [annotations.rebootNow]: `${time} another` }],
  ['the grant is another one', { ...ordered, [annotations.rebootGranted]: `${time} another` }],
  ['it was told already', { ...ordered, [annotations.rebootInProgress]: `${time} boot-1` }],
  ['the node has no grant', { [annotations.rebootNow]: `${time} ${job}` }],
  ['the order can not be read', { ...ordered, [annotations.rebootNow]: job }],
];
for (const [why, found] of strangers)
  test(`the agent changes nothing and reboots nothing where ${why}`, async () => {
    const { reboots, node } = await run(seeded(found));
    assert.deepEqual([reboots, node], [0, found]);
  });

test('an agent that does not know its own Job takes no order, not even an empty one', async () => {
  assert.equal((await run(seeded(ordered), { job: '' })).reboots, 0);
});

test('an agent does not reboot a node that does not say which boot it runs', async () => {
  assert.equal((await run(seeded(ordered, ''))).reboots, 0);
});

test('an agent waits for its order while its grant stands, and then reboots once', async () => {
  const kube = seeded({ [annotations.rebootGranted]: `${time} id` });
  let looks = 0;
  const pause = async () => {
    looks += 1;
    const [node] = kube.stored<Node>(resources.nodes);
    if (looks === 3 && node)
      kube.seed(resources.nodes, { ...node, metadata: { ...node.metadata, annotations: ordered } });
    return looks < 10;
  };
  assert.equal((await run(kube, { pause })).reboots, 1);
  assert.equal(looks, 3);
});

test('an agent that waits ends when its grant is taken away', async () => {
  const kube = seeded({ [annotations.rebootGranted]: `${time} id` });
  let looks = 0;
  const pause = async () => {
    looks += 1;
    const [node] = kube.stored<Node>(resources.nodes);
    if (node) kube.seed(resources.nodes, { ...node, metadata: { ...node.metadata, annotations: {} } });
    return looks < 10;
  };
  const { words, reboots } = await run(kube, { pause });
  assert.deepEqual([reboots, looks], [0, 1]);
  assert.match(words, /has no grant/);
});

test('an agent does not reboot a node that has crashed since the grant', async () => {
  assert.equal((await run(seeded(ordered, 'boot-2'))).reboots, 0);
});

test('an agent does not reboot a node that was uncordoned since the order', async () => {
  const { reboots, node } = await run(seeded(ordered, 'boot-1', false));
  assert.deepEqual([reboots, node], [0, ordered]);
});

test('an agent whose write comes too late does not reboot', async () => {
  const kube = createFakeKube({
    before: ({ key }) => {
      // The step takes the order back between its read and its write.
      if (key === 'PUT nodes') kube.seed(resources.nodes, { metadata: { name: 'node-1' } } as Node);
    },
  });
  kube.seed(resources.nodes, {
    metadata: { name: 'node-1', annotations: ordered },
    spec: { unschedulable: true },
    status: { nodeInfo: { bootID: 'boot-1' } },
  } as Node);
  const { words, reboots } = await run(kube);
  assert.match(words, /nothing is done/);
  assert.equal(reboots, 0);
});

test('an agent that another writer of the Node was faster than reads again, and reboots once', async () => {
  let writes = 0;
  const node = {
    metadata: { name: 'node-1', annotations: ordered },
    spec: { unschedulable: true },
    status: { nodeInfo: { bootID: 'boot-1' } },
  } as Node;
  const kube = createFakeKube({
    before: ({ key }) => {
      if (key !== 'PUT nodes' || writes >= 2) return;
      writes += 1;
      kube.seed(resources.nodes, node);
    },
  });
  kube.seed(resources.nodes, node);
  assert.equal((await run(kube)).reboots, 1);
});

test('an agent that never gets its write through gives up, and does not reboot', async () => {
  const node = {
    metadata: { name: 'node-1', annotations: ordered },
    spec: { unschedulable: true },
    status: { nodeInfo: { bootID: 'boot-1' } },
  } as Node;
  const kube = createFakeKube({
    before: ({ key }) => (key === 'PUT nodes' ? kube.seed(resources.nodes, node) : undefined),
  });
  kube.seed(resources.nodes, node);
  await assert.rejects(run(kube), { reason: 'Conflict' });
});

test('a method is one of three, and nothing else', () => {
  for (const kind of ['DBus', 'Signal']) assert.deepEqual(parseMethod(JSON.stringify({ kind })), { kind });
  assert.deepEqual(parseMethod('{"kind":"Command","command":["/sbin/reboot"]}'), {
    kind: 'Command',
    command: ['/sbin/reboot'],
  });
  const commands = ['"reboot"', '["reboot",1]'].map((command) => `{"kind":"Command","command":${command}}`);
  for (const wrong of ['null', '{}', '{"kind":"Command"}', ...commands, '[]', '1', 'x'])
    assert.throws(() => parseMethod(wrong), /is not a method|JSON/, wrong);
});

test('a command that fails, or is none, is told as a host that was not told', async () => {
  await tellHost({ kind: 'Command', command: ['true'] });
  await assert.rejects(tellHost({ kind: 'Command', command: ['false'] }), /false ended with 1/);
  await assert.rejects(tellHost({ kind: 'Command', command: [] }), /spec\.reboot\.command is empty/);
});

test('an agent whose Node is gone does nothing', async () => {
  const { words, reboots } = await run(createFakeKube());
  assert.deepEqual([words, reboots], ['there is no node node-1: nothing is done', 0]);
});
