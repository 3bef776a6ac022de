import type { Action } from './actions.ts';

/** What the action is about, for tables and events: the members' names, or the cluster itself. */
export function targetOf(action: Action): string | undefined {
  switch (action.kind) {
    case 'set-finalizer':
    case 'compact':
    case 'disarm-alarm':
    case 'disarm-corrupt':
      return undefined;
    case 'defragment-member':
      return action.name;
    case 'delete-peers':
    case 'reconfigure-members':
      return names(action.peers);
    case 'delete-volumes':
    case 'grow-volumes':
    case 'hibernate-members':
    case 'wake-members':
    case 'note-disks':
    case 'accept-disks':
      return names(action.volumes);
    case 'restore-labels':
      return names(action.objects);
    case 'apply-shared':
      return action.objects.join(', ');
    case 'follow-volumes':
    case 'start-members':
      return action.peers.join(', ');
    case 'prepare-members':
    case 'seal-members':
    case 'bar-members':
      return names(action.members);
    case 'replace-unbound-volume':
    case 'delete-replaced-volume':
      return action.volume.name;
    case 'restart-member':
    case 'recreate-pod':
      return action.pod.name;
    case 'change-template':
      return action.peer.name;
    case 'note-versions':
      return names(action.members);
    case 'advance-log':
      return undefined;
    case 'begin-recovery':
    case 'force-new-cluster':
    case 'conclude-recovery':
      return action.volume.name;
    case 'outvote-members':
      return names(action.volumes);
    case 'stop-members':
      return names([...action.statefulSets, ...action.pods]);
    case 'delete-recovery-job':
      return action.job.name;
    case 'add-learner':
    case 'promote-learner':
    case 'remove-member':
    case 'retire-member':
      return action.name;
    case 'make-authorities':
      return action.authorities.map(({ authority }) => authority).join(', ');
    case 'rotate-authorities':
    case 'note-served':
    case 'retire-authorities':
      return action.authorities.join(', ');
    case 'delete-authorities':
      return names(action.secrets);
    case 'request-certificates':
      return action.requests.map(({ plan }) => plan.secretName).join(', ');
    case 'hand-over-certificates':
      return [...action.leaves.map(({ plan }) => plan.secretName), ...action.adopt.map(({ name }) => name)].join(', ');
    case 'issue-certificates':
      return action.leaves.map(({ plan }) => plan.secretName).join(', ');
  }
}

function names(things: readonly { readonly name: string }[]): string {
  return things.map(({ name }) => name).join(', ');
}
