import type { Service } from '../../../manifests/kube-types.ts';
import {
  applySharedObject,
  resourceOf,
  restoreLabelsOf,
  setClusterFinalizer,
} from '../../../reconcile/cluster/act/requests/cluster.ts';
import type { LabelledRef, SharedObject } from '../../../reconcile/cluster/know/actions/birth.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { sharedObject } from '../../../reconcile/cluster/know/spec/shared-objects.ts';
import { type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import type { Contract, Contracts } from './contract.ts';
import { member } from './members.ts';
import { clusterName, type Scene } from './scene.ts';

const name = 'orders-0';

/** An existing object, changed by another writer. */
const given =
  (object: SharedObject, change: (made: KubeObject) => KubeObject = (made) => made, minAvailable = 2) =>
  async (scene: Scene) => {
    await scene.make<KubeObject>(resourceOf[object], change(sharedObject(object, scene.cluster, { minAvailable })));
  };

const ownedBy =
  (uid?: string) =>
  (made: KubeObject): KubeObject => {
    const [owner] = made.metadata.ownerReferences ?? [];
    return {
      ...made,
      metadata: { ...made.metadata, ownerReferences: owner && uid !== undefined ? [{ ...owner, uid }] : [] },
    };
  };

function drifted(made: KubeObject): KubeObject {
  const { spec } = made as Service;
  const changed =
    'selector' in made ? spec : { ...spec, publishNotReadyAddresses: false, selector: { app: 'another' } };
  return { ...made, spec: changed } as KubeObject;
}

function ofShared(object: SharedObject): readonly [Contract, ...Contract[]] {
  const apply = () => applySharedObject({ object, minAvailable: 2 });
  const earlier = '00000000-0000-4000-8000-000000000003';
  return [
    { when: `there is no ${object}`, start: async () => {}, asks: apply },
    { when: `the ${object} is as it should be`, start: given(object), asks: apply },
    {
      when: `the ${object} is of an earlier cluster`,
      start: given(object, ownedBy(earlier)),
      asks: apply,
      refused: 'terminal NameTaken',
    },
    {
      when: `the ${object} is not of this cluster`,
      start: given(object, ownedBy()),
      asks: apply,
      refused: 'terminal NameTaken',
    },
  ];
}

function labels(of: LabelledRef['of']): readonly Contract[] {
  const ask = ({ slots }: Observation, uid = slots[0]?.[of]?.uid ?? '') => restoreLabelsOf({ of, name, uid });
  const bare = async (scene: Scene) => {
    await member(scene);
    const found = await scene.read<KubeObject>(of, name);
    await scene.kube.update(labelledIn[of], { ...found, metadata: { ...found.metadata, labels: { team: 'a' } } });
  };
  return [
    { when: `of a ${of} they are gone`, start: bare, asks: (seen) => ask(seen) },
    { when: `of a ${of} they are there`, asks: (seen) => ask(seen) },
    { when: `there is another ${of} of that name`, start: bare, asks: (seen) => ask(seen, 'another') },
  ];
}

const labelledIn = {
  peer: resources.peers,
  volume: resources.volumeClaims,
  configMap: resources.configMaps,
  statefulSet: resources.statefulSets,
} as const satisfies Record<LabelledRef['of'], Resource>;

async function withFinalizers(scene: Scene, finalizers: readonly string[]): Promise<void> {
  const cluster = await scene.read('cluster', clusterName);
  await scene.kube.update(resources.clusters, { ...cluster, metadata: { ...cluster.metadata, finalizers } });
}

export const cluster = {
  applySharedObject: [
    ...ofShared('headless-service'),
    ...ofShared('client-service'),
    ...ofShared('disruption-budget'),
    ...ofShared('network-policy'),
    {
      when: 'the network-policy was opened for all',
      start: given('network-policy', (made) => ({ ...made, ...{ spec: { podSelector: {}, ingress: [{}] } } })),
      asks: () => applySharedObject({ object: 'network-policy', minAvailable: 2 }),
    },
    {
      when: 'no network-policy is wanted, and one is there',
      start: given('network-policy'),
      asks: () => applySharedObject({ object: 'no-network-policy', minAvailable: 2 }),
    },
    {
      when: 'no network-policy is wanted, and none is there',
      start: async () => {},
      asks: () => applySharedObject({ object: 'no-network-policy', minAvailable: 2 }),
    },
    {
      when: 'no network-policy is wanted, and one is not of this cluster',
      start: given('network-policy', ownedBy()),
      asks: () => applySharedObject({ object: 'no-network-policy', minAvailable: 2 }),
      refused: 'terminal NameTaken',
    },
    ...ofShared('external-service'),
    {
      when: 'the external-service has annotations that its spec gave it before, and one of others',
      start: given('external-service', (made) => ({
        ...made,
        metadata: {
          ...made.metadata,
          annotations: {
            ...{ 'example.com/before': 'a', 'example.com/others': 'b' },
            'etcd.ratchet.dev/given-keys': '[[],["example.com/before"]]',
          },
        },
      })),
      asks: () => applySharedObject({ object: 'external-service', minAvailable: 2 }),
    },
    {
      when: 'no external-service is wanted, and one is there',
      start: given('external-service'),
      asks: () => applySharedObject({ object: 'no-external-service', minAvailable: 2 }),
    },
    {
      when: 'no external-service is wanted, and one is not of this cluster',
      start: given('external-service', ownedBy()),
      asks: () => applySharedObject({ object: 'no-external-service', minAvailable: 2 }),
      refused: 'terminal NameTaken',
    },
    ...ofShared('revocations'),
    {
      when: 'the revocations hold what another client wrote',
      start: given('revocations', (made) => ({ ...made, ...{ binaryData: { 'clients.crl': 'MAA=', other: '' } } })),
      asks: () => applySharedObject({ object: 'revocations', minAvailable: 2 }),
    },
    {
      when: 'the revocations are immutable by another client',
      start: given('revocations', (made) => ({ ...made, ...{ immutable: true } })),
      asks: () => applySharedObject({ object: 'revocations', minAvailable: 2 }),
    },
    {
      when: 'no revocations are wanted, and some are there',
      start: given('revocations'),
      asks: () => applySharedObject({ object: 'no-revocations', minAvailable: 2 }),
    },
    {
      when: 'no revocations are wanted, and there are some that are not of this cluster',
      start: given('revocations', ownedBy()),
      asks: () => applySharedObject({ object: 'no-revocations', minAvailable: 2 }),
      refused: 'terminal NameTaken',
    },
    {
      when: 'the headless-service has drifted',
      start: given('headless-service', drifted),
      asks: () => applySharedObject({ object: 'headless-service', minAvailable: 2 }),
    },
    {
      when: 'the disruption-budget asks for another number',
      start: given('disruption-budget', undefined, 1),
      asks: () => applySharedObject({ object: 'disruption-budget', minAvailable: 2 }),
    },
    {
      when: 'no disruption-budget is needed, and one is there',
      start: given('disruption-budget'),
      asks: () => applySharedObject({ object: 'disruption-budget', minAvailable: 0 }),
    },
    {
      when: 'no disruption-budget is needed, and none is there',
      start: async () => {},
      asks: () => applySharedObject({ object: 'disruption-budget', minAvailable: 0 }),
    },
  ],
  setClusterFinalizer: [
    {
      when: 'it is to be set',
      start: async () => {},
      asks: () => setClusterFinalizer({ present: true, finalizer: 'volumes' }),
    },
    {
      when: 'it is to be set, beside one of others',
      start: (scene) => withFinalizers(scene, ['contract.test/other']),
      asks: () => setClusterFinalizer({ present: true, finalizer: 'volumes' }),
    },
    {
      when: 'it is to go, and one of others stays',
      start: (scene) => withFinalizers(scene, ['contract.test/other', 'etcd.ratchet.dev/volumes']),
      asks: () => setClusterFinalizer({ present: false, finalizer: 'volumes' }),
    },
    {
      when: 'that of the last backup is to be set, beside that of the volumes',
      start: (scene) => withFinalizers(scene, ['etcd.ratchet.dev/volumes']),
      asks: () => setClusterFinalizer({ present: true, finalizer: 'backup' }),
    },
    {
      when: 'that of the last backup is to go, and that of the volumes stays',
      start: (scene) => withFinalizers(scene, ['etcd.ratchet.dev/backup', 'etcd.ratchet.dev/volumes']),
      asks: () => setClusterFinalizer({ present: false, finalizer: 'backup' }),
    },
    {
      when: 'that of the last backup is to go, and is not there',
      start: (scene) => withFinalizers(scene, ['contract.test/other']),
      asks: () => setClusterFinalizer({ present: false, finalizer: 'backup' }),
    },
    {
      when: 'that of the last backup is to go, and the cluster is being deleted',
      start: async (scene) => {
        await withFinalizers(scene, ['etcd.ratchet.dev/backup', 'contract.test/other']);
        const preconditions = { uid: scene.cluster.metadata.uid ?? '' };
        await scene.kube.delete(resources.clusters, scene.namespace, clusterName, { preconditions });
      },
      asks: () => setClusterFinalizer({ present: false, finalizer: 'backup' }),
    },
  ],
  restoreLabelsOf: [
    { when: 'the object is gone', asks: () => restoreLabelsOf({ of: 'peer', name: 'orders-1', uid: 'gone' }) },
    ...labels('peer'),
    ...labels('volume'),
    ...labels('configMap'),
    ...labels('statefulSet'),
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
