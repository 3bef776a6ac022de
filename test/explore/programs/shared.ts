import type { ActionOf, SharedObject } from '../../../reconcile/cluster/actions.ts';
import type { SharedView } from '../../../reconcile/cluster/observation.ts';
import { lacking, placeOf, type World } from '../model/state.ts';
import { lettingGo } from './births.ts';
import { deletesPeer } from './members.ts';
import { changingCluster, type Operation, type Program, refused } from './program.ts';

const kinds = {
  'headless-service': 'headlessService',
  'client-service': 'clientService',
  'disruption-budget': 'disruptionBudget',
} as const satisfies Record<SharedObject, keyof World['shared']>;

/** actions/apply-shared.ts */
export function applyShared({ objects, minAvailable }: ActionOf<'apply-shared'>): Program {
  return objects.map((object): Operation => {
    const kind = kinds[object];
    const none = object === 'disruption-budget' && minAvailable === 0;
    const made: SharedView & { readonly minAvailable?: number } = none
      ? { state: 'missing' }
      : { state: 'present', ...(object === 'disruption-budget' && { minAvailable }) };
    return {
      what: none ? `removes the ${object}` : `applies the ${object}${none || minAvailable === 0 ? '' : ''}`,
      beside: 1,
      check: ({ shared }) => (isOthers(shared[kind]) ? refused(`there is another ${object}`) : 'go'),
      write: {
        fence: 'version',
        object: kind,
        apply: (world) => ({ ...world, shared: { ...world.shared, [kind]: made } }),
      },
    };
  });
}

function isOthers({ state }: SharedView): boolean {
  return state === 'leftover' || state === 'foreign';
}

/** actions/set-finalizer.ts: with the resourceVersion of the claim. */
export function setFinalizer({ present }: ActionOf<'set-finalizer'>): Program {
  return [
    {
      what: present ? 'sets the finalizer' : 'takes the finalizer away',
      write: {
        fence: 'claim',
        apply: (world) =>
          changingCluster(world, (cluster) =>
            present ? { ...cluster, finalizer: true } : lacking(cluster, 'finalizer'),
          ),
      },
    },
  ];
}

/** actions/delete-peers.ts: only of a resource that is itself being deleted. */
export function deletePeers({ peers }: ActionOf<'delete-peers'>): Program {
  const looks: Operation = {
    what: 'sees that the cluster is being deleted',
    check: (world) => (world.cluster.deleting ? 'go' : refused('the cluster is not being deleted')),
  };
  return [looks, ...peers.map((peer) => deletesPeer(peer, 1))];
}

/** actions/delete-volumes.ts: of a cluster that is being deleted, and no pod has it; or one that was never bound. */
export function deleteVolumes({ volumes }: ActionOf<'delete-volumes'>): Program {
  return volumes.map(
    ({ name, uid }): Operation => ({
      what: `deletes volume ${name}`,
      name,
      check: (world) => {
        const { volume, pod } = placeOf(world, name) ?? {};
        if (volume?.uid !== uid || volume.leaving) return 'skip';
        const { deleting } = world.cluster;
        if (!deleting && volume.bound) return refused(`volume ${name} has been bound`);
        return pod && deleting ? refused(`the pod of ${name} still has its volume`) : 'go';
      },
      write: { fence: 'version', object: 'volume', apply: (world) => lettingGo(world, name) },
    }),
  );
}
