import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { createReader } from '../../../functions/read/reader.ts';
import { bitbucketDesk } from '../../support/forge/bitbucket.ts';
import { context, type Stage, setStage } from './checks-stage.ts';
import { wholePass } from './pass.ts';
import { clusterYaml } from './scene.ts';

/** What a look at open requests costs of a forge's limit, where nothing is new. */

/** Suspended, so that nothing about the clusters themselves changes what is told. */
const still = (name: string, replicas = 3) => clusterYaml(name, { replicas, extra: ', suspend: true' });

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

const stages = {
  GitHub: () => setStage({ checks: { mergeQueue: 'Enabled' } }),
  App: () => setStage({}, { app: privateKey }),
  BitbucketCloud: () => setStage({}, { desk: bitbucketDesk() }),
};

/** With a request that has its verdict. */
async function settled(on: keyof typeof stages = 'GitHub'): Promise<Stage & { readonly head: string }> {
  await using opened = new AsyncDisposableStack();
  const isGitHub = on !== 'BitbucketCloud';
  const stage = opened.use(await stages[on]());
  await stage.repository.commit({ 'c/orders.yaml': still('orders'), 'c/ads.yaml': still('ads') });
  const head = await stage.open(7, { 'c/orders.yaml': still('orders', 5) });
  for (let passes = 0; passes < 4; passes++) await wholePass(stage.scene);
  assert.equal(stage.forge.statusesOf(head).get(context)?.state, isGitHub ? 'success' : 'SUCCESSFUL');
  opened.move();
  return Object.assign(stage, { head });
}

/** Requests that were made, and those of them that count. */
async function costs({ scene, forge }: Stage, passes = 1): Promise<readonly [all: number, counted: number]> {
  const before = [forge.requests.length, forge.counted.length] as const;
  for (let pass = 0; pass < passes; pass++) await wholePass(scene);
  return [forge.requests.length - before[0], forge.counted.length - before[1]];
}

test('GitHub counts no look at lists that are still the same', async () => {
  await using stage = await settled();
  assert.deepEqual(await costs(stage, 5), [10, 0], 'the list and the merge queue, at each of five looks');
  assert.equal(stage.scene.fleet().status?.conditions?.find(({ type }) => type === 'RequestsChecked')?.status, 'True');
});

test('by an App each look counts: its token and the list, for each repository and tick', async () => {
  await using stage = await settled('App');
  assert.deepEqual(await costs(stage, 5), [10, 10]);
});

for (const [what, change] of [
  ['a request is opened', async ({ open }) => void (await open(8, { 'c/ads.yaml': still('ads', 5) }))],
  ['a request has another head', async ({ open }) => void (await open(7, { 'c/orders.yaml': still('orders', 1) }))],
  ['a request is closed', async ({ forge }) => void forge.pulls.splice(0)],
  ['a commit waits in the merge queue', async ({ forge, head }) => void forge.queue.set(`${queue}/pr-7-${head}`, head)],
  [
    'the branch has another commit',
    async ({ repository }) => void (await repository.commit({ 'c/notes.md': 'a note\n' }, { keep: true })),
  ],
] as const satisfies readonly (readonly [string, (stage: Stage & { readonly head: string }) => Promise<void>])[]) {
  test(`where ${what}, all is read again, and then nothing counts any more`, async () => {
    await using stage = await settled();
    await change(stage);
    const [, counted] = await costs(stage, 3);
    assert.ok(counted > 0);
    const { status } = stage.scene.fleet();
    assert.equal(status?.checks?.length ?? 0, new Set(openHeads(stage)).size);
    for (const head of openHeads(stage)) assert.ok(stage.forge.statusesOf(head).has(context), head);
    assert.deepEqual(await costs(stage, 2), [4, 0]);
  });
}

const queue = 'gh-readonly-queue/main';
const openHeads = ({ forge }: Stage) => [...forge.pulls.map(({ headSha }) => headSha), ...forge.queue.values()];

test('a verdict that the forge did not take is sent, though its lists are the same', async () => {
  await using stage = await settled();
  const next = await stage.open(9, { 'c/ads.yaml': still('ads', 1) });
  stage.forge.breakWith({ kind: 'status', status: 500, only: 'POST' });
  await costs(stage, 2);
  stage.forge.breakWith(undefined);
  await costs(stage, 3);
  assert.equal(stage.forge.statusesOf(next).get(context)?.state, 'success');
  assert.deepEqual(await costs(stage), [2, 0]);
});

test('a pass starts a reader only for a new commit or request', async () => {
  await using stage = await settled();
  const tasks = async () => {
    let begun = 0;
    using reader = createReader({ stuckMs: 30_000 }, () => {
      begun += 1;
    });
    await wholePass(stage.scene, { reader });
    return begun;
  };
  assert.equal(await tasks(), 0);
  await stage.open(9, { 'c/ads.yaml': still('ads', 1) });
  assert.equal(await tasks(), 1);
  await stage.repository.commit({ 'c/stock.yaml': still('stock') }, { keep: true });
  assert.ok((await tasks()) > 0);
});

test('another spec of the fleet reads all again', async () => {
  await using stage = await settled();
  const { forge, ...spec } = stage.scene.fleet().spec;
  stage.scene.addFleet('production', { ...spec, ...(forge && { forge }), checks: { mergeQueue: 'Disabled' } });
  const [, counted] = await costs(stage, 2);
  assert.ok(counted > 0);
  assert.deepEqual(await costs(stage), [1, 0], 'the merge queue is not looked at any more');
});

test('fleets of one repository and token ask once for all of them', async () => {
  await using stage = await settled();
  const { spec } = stage.scene.fleet();
  const names = Array.from({ length: 20 }, (_, index) => `more-${index}`);
  for (const name of names) stage.scene.addFleet(name, { ...spec, git: { ...spec.git, path: 'none' } });
  await costs(stage, 4);
  assert.deepEqual(await costs(stage), [2, 0], 'of twenty-one fleets');
});

test('Bitbucket Cloud is asked for its list alone where nothing is new: 60 times an hour', async () => {
  await using stage = await settled('BitbucketCloud');
  for (let number = 8; number < 27; number++)
    await stage.open(number, { 'c/ads.yaml': still('ads', number % 2 === 0 ? 1 : 5), 'c/note': String(number) });
  await costs(stage, 4);
  assert.equal(stage.forge.pulls.length, 20);
  for (const head of openHeads(stage)) assert.equal(stage.forge.statusesOf(head).get(context)?.state, 'SUCCESSFUL');
  assert.deepEqual(await costs(stage, 5), [5, 5], 'one at each of five ticks');
});
