import type { Action } from './actions.ts';

/**
 * An action about several members as one action for each: where the whole was refused, each is tried alone, so that one that is
 * refused for ever does not keep the others from theirs. Only where a crash may leave any of them undone anyway.
 */
export function partsOf(action: Action): readonly Action[] {
  switch (action.kind) {
    case 'apply-shared':
      return action.objects.map((object) => ({ ...action, objects: [object] }));
    case 'restore-labels':
      return action.objects.map((object) => ({ ...action, objects: [object] }));
    case 'follow-volumes':
    case 'start-members':
      return action.peers.map((peer) => ({ ...action, peers: [peer] }));
    case 'reconfigure-members':
      return action.peers.map((peer) => ({ ...action, peers: [peer] }));
    case 'prepare-members':
      return action.members.map((member) => ({ ...action, members: [member] }));
    case 'seal-members':
      return action.members.map((member) => ({ ...action, members: [member] }));
    case 'delete-volumes':
    case 'outvote-members':
    case 'wake-members':
      return action.volumes.map((volume) => ({ ...action, volumes: [volume] }));
    case 'issue-certificates':
      return action.leaves.map((leaf) => ({ ...action, leaves: [leaf] }));
    case 'request-certificates':
      return action.requests.map((request) => ({ ...action, requests: [request] }));
    default:
      return [action];
  }
}
