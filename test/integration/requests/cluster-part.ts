import type { StatefulSet } from '../../../manifests/kube-types.ts';
import { readAllowances } from '../../../manifests/render/certificate-allowance.ts';
import { requests } from '../../../reconcile/cluster/act/requests/all.ts';
import type { ReadAt } from '../../../reconcile/cluster/act/requests/read-at.ts';
import type { ClusterSubject } from '../../../reconcile/cluster/act/requests/request.ts';
import { runLive } from '../../../reconcile/cluster/act/requests/run-live.ts';
import { observationHost } from '../../../reconcile/cluster/foresee/host.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { type Kube, type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { allowedInContracts } from './intermediates.ts';
import { member } from './members.ts';
import type { Part } from './part.ts';
import { makeScene, type Scene } from './scene.ts';
import { told } from './told.ts';

const { allowances: nameAllowances } = readAllowances(allowedInContracts);

/** Requests about a cluster. */
export const clusterPart: Part<ClusterSubject, Scene, Observation> = {
  requests,
  makeScene,
  start: member,
  look: async (scene) => {
    const { observation, etcd } = await scene.look();
    const { cluster } = observation;
    return {
      state: observation,
      runLive: (program, kube, signal) =>
        runLive(program, { kube: withStatefulSets(kube, scene.kube), etcd, cluster, signal, nameAllowances }),
    };
  },
  host: (stale) => ({
    ...observationHost,
    isCurrent: ({ object, name }: ReadAt) => !stale.has(`${object}/${name}`),
  }),
  told,
  hasEtcd: ({ membership }) => membership.kind === 'known',
};

/** What waits for the controller of StatefulSets is told by us that it has seen the new template. */
function withStatefulSets(kube: Kube, controller: Kube): Kube {
  return {
    ...kube,
    update: async <T extends KubeObject>(resource: Resource, object: T, options = {}) => {
      const written = await kube.update<T>(resource, object, options);
      if (resource !== resources.statefulSets) return written;
      const { generation = 0 } = written.metadata;
      const status = { replicas: 1, observedGeneration: generation, updateRevision: `revision-${generation}` };
      await controller.updateStatus<StatefulSet>(resource, { ...(written as unknown as StatefulSet), status });
      return written;
    },
  };
}
