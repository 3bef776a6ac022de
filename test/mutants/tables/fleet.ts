import type { Mutant } from '../mutant.ts';

const deletedFleet = 'test/integration/fleet/deleted-fleet.test.ts';

/** What belongs to a fleet, and what is deleted because Git does not list it any more (I8). */
export const ofFleets: readonly Mutant[] = [
  {
    file: 'reconcile/fleet/names.ts',
    from: " && uids.has(object.metadata.uid ?? '')",
    to: ' && uids.size >= 0',
    without: "a stranger's cluster with the fleet's label is the fleet's",
    killers: ['test/unit/fleet/strangers.test.ts', 'test/unit/cluster/room.test.ts'],
  },
  {
    file: 'reconcile/fleet/prune.ts',
    from: "if (free.filter(({ kind }) => kind === 'EtcdCluster').length > 1) return free;",
    to: '',
    without: 'several clusters are deleted at once without a confirmation',
    killers: ['test/unit/fleet/prune.test.ts'],
  },
  {
    file: 'reconcile/fleet/prune.ts',
    from: ' || source.ref !== spec.git.ref ||',
    to: ' ||',
    without: 'a fleet that reads another ref than before still prunes',
    killers: ['test/unit/fleet/prune.test.ts'],
  },
  {
    file: 'reconcile/fleet/prune.ts',
    from: 'object.metadata.uid}`).sort();',
    to: "''}`).sort();",
    without: 'a confirmation covers another cluster that bears the same name by now',
    killers: ['test/unit/fleet/prune.test.ts'],
  },
  {
    file: 'reconcile/fleet/names.ts',
    from: "  return (object) => isMarked(fleet, object) && uids.has(object.metadata.uid ?? '');",
    to: '  return (object) => isMarked(fleet, object);',
    without: 'a cluster that copies the label of a fleet counts as its own',
    killers: ['test/unit/fleet/strangers.test.ts', 'test/unit/cluster/room.test.ts'],
  },
  {
    file: 'reconcile/fleet/prune.ts',
    from: "return free.filter(({ metadata }) => metadata.annotations?.[annotations.prune] === 'confirm');",
    to: 'return [];',
    without: 'what its document protected by confirm is deleted without a confirmation',
    killers: ['test/unit/fleet/prune.test.ts'],
  },
  {
    file: 'reconcile/fleet/prune.ts',
    from: "if (word !== undefined && word !== 'confirm') return 'PruneDisabled';",
    to: "if (word === 'never') return 'PruneDisabled';",
    without: 'what its document protected is deleted when that document is gone',
    killers: ['test/unit/fleet/prune.test.ts'],
  },
  {
    file: 'manifests/api/document-metadata.ts',
    from: 'if (!isPruneWord(value)) problems.add',
    to: 'if (value === null) problems.add',
    without: 'a document protects its object by a word that means nothing',
    killers: ['test/unit/manifests/api-validate.test.ts'],
  },
  {
    file: 'functions/pass/pending-records.ts',
    from: 'items.filter(({ metadata }) => metadata.namespace === home)',
    to: '[...items]',
    without: 'a tenant with ConfigMaps has the Secret of a fleet sent to a host of theirs',
    killers: [deletedFleet],
  },
  {
    file: 'functions/pass/end-record.ts',
    from: '    if (live?.metadata.uid === uid) return;\n',
    to: '',
    without: 'the statuses of a fleet that has just been made are ended',
    killers: [deletedFleet],
  },
  {
    file: 'functions/pass/end-record.ts',
    from: '.some((other) => speaksFor(other, record))',
    to: '.some(() => false)',
    without: 'the statuses of the fleet that came after a deleted one are overwritten',
    killers: [deletedFleet],
  },
  {
    file: 'reconcile/fleet/account.ts',
    from: 'if (!isOurAccount(account.name)) return kube.as(account);',
    to: 'if (account.name) return kube.as(account);',
    without: 'a fleet acts as etcd-ratchet itself, where its Role or CRD is older',
    killers: ['test/unit/fleet/account.test.ts'],
  },
  {
    file: 'functions/pass/fleet-pass.ts',
    from: '    actingFor(fleet, context.kube);\n',
    to: '',
    without: 'Git is asked for a fleet whose account is refused',
    killers: ['test/unit/fleet/account.test.ts'],
  },
];
