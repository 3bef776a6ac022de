import { type Meaning, step } from './meaning.ts';

/** Clusters of another origin that are taken over: `spec.bootstrap.existing`. */

export const adoption = {
  JoiningExisting: step('The first member of ours joins an existing cluster, as a learner.', 'disrupts'),
  RemovingInherited: step('A member of the cluster that is taken over leaves it, as approved.', 'disrupts'),
  LeavingExisting: step(
    'The EtcdCluster is deleted before the existing cluster was taken over: its members leave that, one at a time.',
    'disrupts',
  ),
  ExistingUnreachable: {
    means: 'The member list of the cluster that is to be taken over cannot be read.',
    cure: 'do what the message says ([runbook](docs/runbooks/adoption.md#the-existing-cluster-does-not-answer))',
  },
  ExistingNotFit: {
    means: 'The cluster that is to be taken over cannot be joined as it is, or as the spec is.',
    cure: 'do what the message says: a member of ours then joins ([runbook](docs/runbooks/adoption.md#the-existing-cluster-is-not-joined))',
  },
  AdoptionNotApproved: {
    means: 'Members of ours vote beside those of the existing cluster, which leave when a person approves it.',
    cure: 'stop what manages the existing members, let every client use the Service of the EtcdCluster, and approve with the command in the message ([runbook](docs/runbooks/adoption.md#the-old-members-are-to-leave))',
  },
  InheritedMemberDown: {
    means: 'A member of the cluster that is taken over does not answer, so no member joins or leaves.',
    cure: 'bring it back; if it never returns, approve with the command in the message ([runbook](docs/runbooks/adoption.md#an-old-member-is-down))',
  },
  ExistingRemoved: {
    means: 'The spec no longer names members of the existing cluster that still vote: what it said before counts.',
    cure: 'write `spec.bootstrap.existing` as the message has it ([runbook](docs/runbooks/adoption.md#the-adoption-is-called-off))',
  },
  AdoptionUnfinished: {
    means: 'The members of ours are part of a quorum that members of another origin need, so they do not stop.',
    cure: 'do what the message says ([runbook](docs/runbooks/adoption.md#the-adoption-is-called-off))',
  },
} as const satisfies Record<string, Meaning>;
