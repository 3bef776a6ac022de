import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import type { StatefulSet } from '../../../../manifests/kube-types.ts';
import { type Kube, KubeError, type KubeObject, resources } from '../../../../reconcile/interfaces/kube.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { changeSet, withTemplateAnnotation } from '../../../support/world/hands.ts';
import { assertWhole } from '../../../support/world/whole.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

/** Where StatefulSets can't be compared, or never stay as they are written, the rest goes on. */

const members = ['orders-0', 'orders-1', 'orders-2'] as const;
const healing = { podGracePeriod: '20s', memberGracePeriod: '40s' };

/** As a webhook that is down answers, for whom the API server waits. */
function breakDryRuns(world: World): void {
  const message = 'failed calling webhook "validate.kyverno.svc-fail": context deadline exceeded';
  const dryRun = async () => {
    throw new KubeError(message, { class: 'retryable', status: 500, reason: 'InternalError' });
  };
  Object.assign(world.kube, { dryRun });
}

/** Clients are let in only when each member is sealed. */
function assertOpen(world: World, trail: readonly string[]): void {
  const services = world.kube.stored(resources.services).map(({ metadata }) => metadata.name);
  assert.ok(services.includes('orders'), trail.join('\n'));
  assertWhole(world, members, trail.join('\n'));
}

function forgetNotes(world: World): void {
  for (const peer of world.kube.stored<EtcdPeer>(resources.peers)) {
    const { statefulSet: _, ...status } = peer.status ?? {};
    world.kube.seed(resources.peers, { ...peer, status: status as EtcdPeer['status'] });
  }
}

test('a cluster is born where the API server takes no dry run, and tells that then', async () => {
  const world = createWorld();
  world.forbidden.add('PUT statefulsets');
  await world.apply({ healing });
  const { reason, trail } = await tickUntilConverged(world);
  assert.equal(reason, 'TemplateUnread', trail.join('\n'));
  assertOpen(world, trail);
});

test('a cluster is born while another client changes a template each time', async () => {
  const world = createWorld();
  await world.apply({ healing });
  let stamp = 0;
  const fight = async () => {
    if (!world.kube.stored(resources.statefulSets).some(({ metadata }) => metadata.name === 'orders-2')) return;
    stamp += 1;
    await changeSet(world, 'orders-2', withTemplateAnnotation('example.org/seen', String(stamp)), 'stamper');
  };
  const { reason, trail } = await tickUntilConverged(world, { meanwhile: fight });
  assert.equal(reason, 'ObjectContested', trail.join('\n'));
  assertOpen(world, trail);
});

test('a member is healed while dry runs fail for a cause that may pass', async () => {
  const world = createWorld();
  await world.apply({ healing });
  await tickUntilConverged(world);
  forgetNotes(world);
  const { dryRun } = world.kube;
  breakDryRuns(world);
  world.loseVolume('orders-1');
  const trail: string[] = [];
  for (let ticks = 0; ticks < 30; ticks += 1) {
    world.settle();
    const result = await world.tick();
    trail.push(`${result?.decision.kind} ${result?.reason} ${result?.message}`);
    world.advance(5);
  }
  const last = await world.tick();
  assert.deepEqual([last?.decision.kind, last?.reason], ['wait', 'TemplateUnread'], trail.join('\n'));
  assert.match(last?.message ?? '', /could not be compared .* failed calling webhook/);
  assertWhole(world, ['orders-0', 'orders-2', 'orders-3'], trail.join('\n'));
  Object.assign(world.kube, { dryRun });
  assert.equal((await tickUntilConverged(world)).kind, 'done');
});

test('a StatefulSet that others write at every moment is compared at a later look', async () => {
  const world = createWorld();
  await world.apply({ healing });
  await tickUntilConverged(world);
  forgetNotes(world);
  const { dryRun } = world.kube;
  const conflict = async () => {
    throw new KubeError('the object has been modified', { class: 'precondition', status: 409, reason: 'Conflict' });
  };
  Object.assign(world.kube, { dryRun: conflict });
  assert.equal((await world.tick())?.decision.kind, 'wait');
  Object.assign(world.kube, { dryRun });
  assert.equal((await tickUntilConverged(world)).kind, 'done');
});

/** A policy that came after the cluster: templates without the label are denied, also in dry runs. */
function demandTeam(world: World): void {
  const { dryRun, update } = world.kube;
  const judge = (object: KubeObject) => {
    const { spec } = object as Partial<StatefulSet>;
    if (!spec?.template || spec.template.metadata.labels?.team !== undefined) return;
    const message = 'admission webhook "policy" denied the request: the label team is missing';
    throw new KubeError(message, { class: 'terminal', status: 403, reason: 'Forbidden' });
  };
  const judged: Pick<Kube, 'dryRun' | 'update'> = {
    dryRun: async (resource, object, options) => {
      judge(object);
      return dryRun(resource, object, options);
    },
    update: async (resource, object, options) => {
      judge(object);
      return update(resource, object, options);
    },
  };
  Object.assign(world.kube, judged);
}

const team = { podTemplate: { metadata: { labels: { team: 'payments' } } } };

test('a template that a new policy denies is replaced by one that the policy takes', async () => {
  const world = createWorld();
  await world.apply({ healing });
  await tickUntilConverged(world);
  forgetNotes(world);
  demandTeam(world);
  const { reason, message } = await tickUntilConverged(world);
  assert.equal(reason, 'TemplateUnread');
  assert.match(message, /the label team is missing/);
  await world.apply({ healing, ...team });
  const { kind, steps, trail } = await tickUntilConverged(world);
  assert.equal(kind, 'done', trail.join('\n'));
  assert.deepEqual([...new Set(steps.map(({ action }) => action))], ['change-template'], trail.join('\n'));
  assertWhole(world, members, trail.join('\n'));
});

test('a spec that the policy denies as well restarts no member', async () => {
  const world = createWorld();
  await world.apply({ healing });
  await tickUntilConverged(world);
  forgetNotes(world);
  demandTeam(world);
  await world.apply({ healing, etcd: { snapshotCount: 5000 } });
  const { kind, steps, trail } = await tickUntilConverged(world);
  assert.deepEqual([kind, steps], ['refuse', []], trail.join('\n'));
  assertWhole(world, members, trail.join('\n'));
});
