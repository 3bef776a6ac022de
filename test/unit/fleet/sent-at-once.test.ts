import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendChanged } from '../../../gitops/statuses/report.ts';
import type { SentStatus } from '../../../gitops/statuses/sent.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { EtcdFleetStatus } from '../../../manifests/api/etcd-fleet-status.ts';
import { writeFleetStatus } from '../../../reconcile/fleet/write.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { everyOrder, type Turn } from './every-order.ts';
import { fleetWith, revision, sha } from './objects.ts';

/** Invocations of one fleet side by side, in every order of their requests: what the forge shows is what is so. */

const signal = AbortSignal.timeout(60_000);

interface Pass {
  readonly state: 'pending' | 'success' | 'failure';
  /** It was the first one to apply the revision. */
  readonly applies?: true;
  /** All look before the first one sends. */
  readonly hasLooked?: true;
  readonly of?: string;
}

function stage() {
  const kube = createFakeKube();
  kube.seed(resources.fleets, fleetWith({ revision: { attempted: revision } }));
  const shown = new Map<string, string>();
  let posts = 0;
  /** What a pass does about statuses: reads, sends what differs, writes. */
  const pass = async ({ state, applies, hasLooked, of = sha }: Pass, turn: Turn = async () => {}) => {
    if (!hasLooked) await turn();
    const fleet = await kube.get<EtcdFleet>(resources.fleets, 'platform', 'production');
    assert.ok(fleet?.status);
    const post = async (status: { readonly sha: string; readonly context: string; readonly state: string }) => {
      await turn();
      shown.set(`${status.sha} ${status.context}`, status.state);
      posts++;
    };
    const wanted = [{ sha: of, context: 'etcd-ratchet/production', state, description: state }];
    const before = (fleet.status.commitStatuses ?? []) as readonly SentStatus[];
    const { sent } = await sendChanged({ address: 'the forge', post }, wanted, before, {
      signal,
      deadline: Date.now() + 60_000,
    });
    const status: EtcdFleetStatus = {
      ...fleet.status,
      revision: { attempted: `main@sha1:${of}`, ...(applies && { applied: `main@sha1:${of}` }) },
      commitStatuses: [...sent],
    };
    const gated: typeof kube = {
      ...kube,
      get: async (...args) => {
        await turn();
        return kube.get(...args);
      },
      updateStatus: async (...args) => {
        await turn();
        return kube.updateStatus(...args);
      },
    };
    await writeFleetStatus(gated, fleet, status, signal);
  };
  return { pass, shown: () => shown.get(`${sha} etcd-ratchet/production`), posts: () => posts };
}

const other = 'b'.repeat(40);
const cases: Readonly<Record<string, readonly Pass[]>> = {
  'an older look and the one that applies': [{ state: 'pending' }, { state: 'success', applies: true }],
  'two looks at one attempt': [{ state: 'pending' }, { state: 'success' }],
  'three at once': [
    { state: 'pending', hasLooked: true },
    { state: 'failure', hasLooked: true },
    { state: 'success', hasLooked: true, applies: true },
  ],
  'one of another commit': [
    { state: 'pending', of: other },
    { state: 'success', applies: true },
  ],
};

for (const [what, passes] of Object.entries(cases))
  test(`after the next pass the forge shows what is so, in every order: ${what}`, async (t) => {
    const orders = await everyOrder(async (together) => {
      const { pass, shown, posts } = stage();
      await together(passes.map((one) => (turn) => pass(one, turn)));
      await pass({ state: 'success', applies: true });
      assert.equal(shown(), 'success');
      const sent = posts();
      await pass({ state: 'success', applies: true });
      assert.equal(posts(), sent, 'and is not told again');
    });
    assert.ok(orders >= 20, `${orders} orders`);
    t.diagnostic(`${orders} orders`);
  });

const next = 'b'.repeat(40);
const context = 'etcd-ratchet/production';
const told = (state: string, at = { of: sha, context }) => ({
  sha: at.of,
  context: at.context,
  state,
  description: state,
});

/** A fleet with this status, and invocations that each write what they looked at a moment ago. */
function written(status: Partial<EtcdFleetStatus>) {
  const kube = createFakeKube();
  kube.seed(resources.fleets, fleetWith(status));
  const look = async () => (await kube.get<EtcdFleet>(resources.fleets, 'platform', 'production')) ?? assert.fail();
  const write = (fleet: EtcdFleet, news: Partial<EtcdFleetStatus>) =>
    writeFleetStatus(kube, fleet, { observedGeneration: 1, ...fleet.status, ...news }, signal);
  return { kube, look, write };
}

test('what others told and took back meanwhile is uncertain to one that told something else', async () => {
  const { look, write } = written({ revision: { attempted: revision }, commitStatuses: [told('success')] });
  const slow = await look();
  await write(await look(), { commitStatuses: [told('pending')] });
  await write(await look(), { commitStatuses: [told('success')] });
  await write(slow, { commitStatuses: [told('failure')] });
  assert.deepEqual((await look()).status?.commitStatuses, [{ ...told('failure'), uncertain: true }]);
});

test('a late report on an older commit takes nothing from what the newer attempt has told', async () => {
  const own = { of: next, context: `${context}/payments/orders` };
  const old = { of: sha, context: own.context };
  const before = { revision: { attempted: revision, applied: revision }, commitStatuses: [told('pending', old)] };
  const { kube, look, write } = written(before);
  const late = await look();
  const newer = `main@sha1:${next}`;
  const claimed = await kube.updateStatus<EtcdFleet>(resources.fleets, {
    ...late,
    status: { observedGeneration: 1, ...before, revision: { attempted: newer, applied: revision } },
  });
  await write(late, { commitStatuses: [told('success', old)] });
  await write(claimed, { revision: { attempted: newer, applied: newer }, commitStatuses: [told('pending', own)] });
  assert.deepEqual((await look()).status?.commitStatuses, [told('pending', own)]);
  await write(
    { ...late, metadata: { ...late.metadata, resourceVersion: '1' } },
    { commitStatuses: [told('failure', old)] },
  );
  assert.deepEqual((await look()).status?.commitStatuses, [told('pending', own)]);
});

test('of one that another attempt knows more about its words stay, and it is sent again', async () => {
  const { kube, look, write } = written({ revision: { attempted: revision } });
  const late = await look();
  await kube.updateStatus<EtcdFleet>(resources.fleets, {
    ...late,
    status: {
      observedGeneration: 1,
      revision: { attempted: revision, applied: revision },
      commitStatuses: [told('failure')],
    },
  });
  await write(late, { commitStatuses: [told('pending')] });
  assert.deepEqual((await look()).status?.commitStatuses, [{ ...told('failure'), uncertain: true }]);
});

test('a fleet that has no status yet gets its first one, whatever else is written meanwhile', async () => {
  const { kube, look, write } = written({});
  const { status: _, ...bare } = await look();
  kube.seed(resources.fleets, bare);
  const found = await look();
  await kube.update(resources.fleets, { ...found, metadata: { ...found.metadata, annotations: { note: 'x' } } });
  assert.equal(await write(found, { lastRun: '2026-05-01T10:00:00Z' }), true);
});
