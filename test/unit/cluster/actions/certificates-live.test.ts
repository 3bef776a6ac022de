import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod, Secret } from '../../../../manifests/kube-types.ts';
import type { LeafPlan } from '../../../../manifests/render/certificate-names.ts';
import { labelsOf, podName, recoveryPodLabels, restorePodLabels } from '../../../../manifests/render/names.ts';
import { carriedOut } from '../../../../reconcile/cluster/foresee/run.ts';
import type { Action } from '../../../../reconcile/cluster/know/action.ts';
import { handOverDue } from '../../../../reconcile/cluster/know/certificates/hand-over.ts';
import { peerUidOf } from '../../../../reconcile/cluster/know/certificates/wanted.ts';
import type { Observation } from '../../../../reconcile/cluster/know/observation.ts';
import type { Ref } from '../../../../reconcile/cluster/know/ref.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { StepError } from '../../../../reconcile/requests/refusals.ts';
import type { FakeKube } from '../../../support/fakes/kube.ts';
import { plansOf } from '../certificates.ts';
import { cluster, healthy, namespace, prepared, token } from '../observations.ts';
import { answer, byCertManager, certificatesOf, said, withIssuer } from './certificates-on-kube.ts';
import { carryOut, kubeOf, secretIn, touchSecret } from './on-kube.ts';

/** The live halves of requests about certificates do what their model halves say, and no key comes out of them. */

const both = ['peer', 'client'] as const;
const base = prepared(3, { certificates: { kind: 'unread' } });
const minutes = 60_000;

function validity(after: number) {
  const at = base.at.getTime() + after * minutes;
  const iso = (time: number) => new Date(time).toISOString();
  return { notBefore: iso(at - 5 * minutes), leafNotAfter: iso(at + 1e10), authorityNotAfter: iso(at + 1e11) };
}

function orders(plans: readonly LeafPlan[], remedy: 'issue' | 'bundle' = 'issue') {
  return plans.map((plan) => ({ plan, remedy, ...peerUidOf(base.slots, plan) }));
}

const plans = plansOf(3);
const of = (authority: string) => plans.filter((plan) => plan.authority === authority);
const make: Action = {
  kind: 'make-authorities',
  token,
  authorities: both.map((authority) => ({ authority, trustedIn: [] })),
  leaves: orders(plans),
  validity: validity(0),
};
const rotate: Action = { kind: 'rotate-authorities', authorities: both, request: 'x', validity: validity(1) };
const renew: Action = { kind: 'issue-certificates', leaves: orders(plans), validity: validity(2) };
const bundle: Action = { kind: 'issue-certificates', leaves: orders(plans, 'bundle'), validity: validity(2) };
const note: Action = { kind: 'note-served', authorities: both, since: base.at.toISOString() };
const retire: Action = { kind: 'retire-authorities', authorities: both };
const anew: Action = {
  kind: 'make-authorities',
  token,
  authorities: [{ authority: 'peer', trustedIn: of('peer').map(({ secretName }) => secretName) }],
  leaves: [],
  validity: validity(3),
};

describe('an action about certificates leaves what its model says', () => {
  const stories: readonly (readonly [string, readonly Action[]])[] = [
    ['at a birth', [make, make]],
    ['through a rotation', [make, rotate, rotate, bundle, renew, note, note, retire, bundle]],
    ['where a CA with its record is made anew', [make, rotate, note, anew]],
  ];
  for (const [when, actions] of stories) {
    test(when, async () => {
      const kube = kubeOf(base);
      for (const action of actions) await assertAgrees(action, base, kube);
    });
  }

  test('where the CA was lost, with and without what it had signed, while members run', async () => {
    const running = healthy(3, { certificates: { kind: 'unread' } });
    for (const action of [anew, { ...anew, authorities: [{ authority: 'peer' as const, trustedIn: [] }] }]) {
      const kube = kubeOf(running);
      for (const { name } of running.slots) kube.seed(resources.pods, podOf(name));
      await carryOut(make, running, kube);
      kube.remove(resources.secrets, namespace, 'orders-peer-ca');
      await assertAgrees(action, running, kube);
    }
  });

  // The CA was called a stranger, which changed the spec of the member: its restore was begun a second time.
  test('where no member runs yet, and the pod of a restore does', async () => {
    for (const labels of [restorePodLabels('orders'), recoveryPodLabels('orders')]) {
      const kube = kubeOf(base);
      kube.seed(resources.pods, { ...podOf('orders-0'), metadata: { name: 'orders-0-job-x', namespace, labels } });
      await assertAgrees(make, base, kube);
    }
  });

  test('when the cluster is deleted', async () => {
    const metadata = { deletionTimestamp: base.at.toISOString(), finalizers: ['etcd.ratchet.dev/volumes'] };
    const deleting = { ...base, cluster: { ...base.cluster, metadata: { ...base.cluster.metadata, ...metadata } } };
    const kube = kubeOf(deleting);
    await carryOut(make, deleting, kube);
    const secrets = both.map((which) => refTo(kube, `orders-${which}-ca`));
    await assertAgrees({ kind: 'delete-authorities', secrets }, deleting, kube);
    assert.equal(secretIn(kube, 'orders-peer-ca'), undefined);
  });

  test('with cert-manager: asked, asked for something else, handed over, adopted', async () => {
    const { asking, kube, request } = byCertManager();
    await assertAgrees(request('company'), asking, kube);
    await assertAgrees(request('other'), withIssuer(asking, 'other'), kube);
    await answer(kube, base.at);
    const handOver = handOverDue(asking, await certificatesOf(asking, kube));
    assert.deepEqual([handOver?.leaves.length, handOver?.adopt.length], [plans.length, plans.length]);
    await assertAgrees(handOver ?? assert.fail(), asking, kube);
    assert.equal(handOverDue(asking, await certificatesOf(asking, kube)), undefined);
  });
});

describe('of a private key', () => {
  test('no request asks for a part, and none is answered with one', async () => {
    const { asking, kube, request } = byCertManager();
    const exchanges = [await carryOut(request('company'), asking, kube)];
    await answer(kube, base.at);
    const handOver = handOverDue(asking, await certificatesOf(asking, kube)) ?? assert.fail();
    for (const action of [handOver, make]) exchanges.push(await carryOut(action, asking, kube));
    const signing = kubeOf(base);
    for (const action of [make, rotate, renew, bundle, note, retire, anew]) {
      exchanges.push(await carryOut(action, base, signing));
    }
    const said = JSON.stringify(exchanges);
    const keys = [kube, signing].flatMap((one) => one.stored<Secret>(resources.secrets).map(keyIn));
    assert.ok(keys.length > 20 && exchanges.flat().length > 100);
    for (const parts of keys) for (const part of parts) assert.equal(said.includes(part), false, part);
  });
});

/** Parts of it, as PEM and as a Secret has them. What comes first is the same in all keys, and the end is public. */
function keyIn({ data }: Secret): readonly string[] {
  const encoded = data?.['tls.key'] ?? '';
  const body = Buffer.from(encoded, 'base64').toString().split('\n').slice(1).join('');
  return [body.slice(48, 64), body.slice(64, 88), encoded.slice(112, 140)];
}

describe('a Secret that was written to since it was read', () => {
  const changes: readonly (readonly [Action, readonly Action[]])[] = [
    [make, []],
    [anew, [make, rotate]],
    [rotate, [make]],
    [renew, [make]],
    [bundle, [make]],
    [note, [make, rotate]],
    [retire, [make, rotate]],
  ];
  for (const [action, before] of changes) {
    test(`is left as it is by ${named(action)}, and the step ends`, async () => {
      const kube = kubeOf(base);
      for (const one of before) await carryOut(one, base, kube);
      if (action === anew) spoil(kube, 'orders-peer-ca');
      await assertFenced(action, base, kube);
    });
  }

  test('is left as it is by hand-over-certificates, and the step ends', async () => {
    const { asking, kube, request } = byCertManager();
    await carryOut(request('company'), asking, kube);
    await answer(kube, base.at);
    const due = handOverDue(asking, await certificatesOf(asking, kube)) ?? assert.fail();
    await assertFenced(due, asking, kube);
    await assertFenced({ ...due, adopt: [] }, asking, kube);
  });
});

async function assertFenced(action: Action, observation: Observation, kube: FakeKube): Promise<void> {
  let theirs: Secret | undefined;
  const touching = carryOut(action, observation, kube, ({ name = '' }) => {
    touchSecret(kube, name);
    theirs = secretIn(kube, name);
  });
  await assert.rejects(touching, (error) => error instanceof StepError && error.failure.reason === 'WorldMoved');
  assert.deepEqual(secretIn(kube, theirs?.metadata.name ?? ''), theirs);
}

async function assertAgrees(action: Action, observation: Observation, kube: FakeKube): Promise<void> {
  const before = { ...observation, certificates: await certificatesOf(observation, kube) };
  const { certificates } = carriedOut(action, before);
  await carryOut(action, observation, kube);
  assert.deepEqual(said(certificates), said(await certificatesOf(observation, kube)), action.kind);
}

/** Told apart from others of its kind. */
function named(action: Action): string {
  const which = new Map([
    [make, 'at a birth'],
    [anew, 'of a CA'],
    [renew, 'anew'],
    [bundle, 'for its trust'],
  ]).get(action);
  return which === undefined ? action.kind : `${action.kind} ${which}`;
}

function podOf(name: string): Pod {
  const metadata = { name: podName(name), namespace, labels: labelsOf(cluster) };
  return { apiVersion: 'v1', kind: 'Pod', metadata } as Pod;
}

/** Nothing in it can be read. */
function spoil(kube: FakeKube, name: string): void {
  const { metadata } = secretIn(kube, name) ?? assert.fail();
  kube.seed<Secret>(resources.secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: {} });
}

function refTo(kube: FakeKube, name: string): Ref {
  return { name, uid: secretIn(kube, name)?.metadata.uid ?? '' };
}
