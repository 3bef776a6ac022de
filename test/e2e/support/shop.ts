/** What other people run, in a namespace that has nothing to do with us, and how it is seen whether we disturbed it. */

import assert from 'node:assert/strict';
import { type Kube, type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';

/** Beside all scenes of a run. */
export const shop = 'shop';

const image = 'quay.io/coreos/etcd:v3.6.16';

/** A shop that runs an etcd of its own, under the labels that charts give theirs. */
export function shopIn(namespace: string): readonly object[] {
  const object = (apiVersion: string, kind: string, name: string, fields: object) => ({
    ...{ apiVersion, kind, metadata: { name, namespace, labels: { app: name } } },
    ...fields,
  });
  const template = (app: string, container: object, volumes: readonly object[] = []) => ({
    metadata: { labels: { app, 'app.kubernetes.io/name': 'etcd' } },
    spec: { containers: [{ name: app, ...container }], volumes },
  });
  const selector = (app: string) => ({ matchLabels: { app } });
  const storage = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const database = {
    image,
    args: [
      '--data-dir=/data/etcd',
      '--listen-client-urls=http://0.0.0.0:2379',
      '--advertise-client-urls=http://db:2379',
    ],
    command: ['/usr/local/bin/etcd'],
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  };
  const nightly = { ...template('nightly', { image, command: ['/usr/local/bin/etcdctl', 'version'] }).spec };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    object('v1', 'ConfigMap', 'settings', { data: { currency: 'EUR' } }),
    object('v1', 'Secret', 'keys', { stringData: { key: 'shop' } }),
    object('v1', 'Service', 'web', { spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } }),
    object('v1', 'Service', 'db', { spec: { clusterIP: 'None', selector: { app: 'db' }, ports: [{ port: 2379 }] } }),
    object('policy/v1', 'PodDisruptionBudget', 'web', { spec: { minAvailable: 1, selector: selector('web') } }),
    object('apps/v1', 'Deployment', 'web', {
      spec: {
        replicas: 2,
        selector: selector('web'),
        template: template('web', { image: 'registry.k8s.io/pause:3.10' }),
      },
    }),
    object('apps/v1', 'StatefulSet', 'db', {
      spec: {
        ...{ serviceName: 'db', selector: selector('db'), template: template('db', database) },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: storage }],
      },
    }),
    object('batch/v1', 'CronJob', 'nightly', {
      spec: {
        schedule: '* * * * *',
        jobTemplate: { spec: { template: { spec: { ...nightly, restartPolicy: 'Never' } } } },
      },
    }),
  ];
}

/** As kubectl lists them. */
export interface Seen {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly generation?: number;
    readonly labels?: object;
    readonly annotations?: object;
    readonly managedFields?: readonly { readonly manager: string }[];
  };
  readonly spec?: object;
  readonly data?: object;
  readonly status?: { readonly containerStatuses?: readonly { readonly restartCount: number }[] };
}

/** Without their Jobs and the pods of these, which come and go each minute. */
export function lasting(objects: readonly Seen[]): readonly Seen[] {
  return objects.filter(({ metadata }) => !metadata.name.startsWith('nightly-'));
}

/** What a person would miss if it had changed. */
export function told(objects: readonly Seen[]) {
  return objects.map(({ kind, metadata: { name, uid, generation, labels, annotations }, spec, data, status }) => {
    const restarts = status?.containerStatuses?.map(({ restartCount }) => restartCount);
    return { kind, name, uid, generation, labels, annotations, spec, data, restarts };
  });
}

const { pods, statefulSets, services, configMaps, secrets, volumeClaims, disruptionBudgets } = resources;
const kinds = [pods, statefulSets, services, configMaps, secrets, volumeClaims, disruptionBudgets];

/**
 * Looks at the shop, where the cluster has one.
 *
 * @returns to be called at the end. It throws an {AssertionError} where anything there is another than it was, or where
 *   its CronJob could not make a Job meanwhile.
 */
export async function watchOver(kube: Kube): Promise<() => Promise<void>> {
  const [before, refused] = [await looked(kube), await refusals(kube)];
  return async () => {
    assert.deepEqual(await looked(kube), before, 'other people’s work beside the scene is as it was');
    const since = (await refusals(kube)).filter((one) => !refused.includes(one));
    assert.deepEqual(since, [], 'what other people make is not refused');
  };
}

async function looked(kube: Kube) {
  const lists = await Promise.all(kinds.map((kind) => kube.list<KubeObject & Seen>(kind, { namespace: shop })));
  return told(lasting(lists.flatMap(({ items }) => items))).toSorted((a, b) =>
    `${a.kind}/${a.name}`.localeCompare(`${b.kind}/${b.name}`),
  );
}

async function refusals(kube: Kube): Promise<readonly string[]> {
  const { items } = await kube.list<KubeObject & { readonly reason?: string; readonly note?: string }>(
    resources.events,
    { namespace: shop },
  );
  return items
    .filter(({ reason }) => reason === 'FailedCreate')
    .map(({ metadata, note }) => `${metadata.name}: ${note}`);
}
