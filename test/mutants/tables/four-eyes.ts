import type { Mutant } from '../mutant.ts';

const judged = 'test/unit/fleet/four-eyes.test.ts';
const lived = 'test/unit/cluster/world/four-eyes.test.ts';
const admitted = 'test/integration/manifests/four-eyes.test.ts';

/** Mutants in who may approve what a commit asks. */
export const ofFourEyes: readonly Mutant[] = [
  {
    file: 'reconcile/fleet/four-eyes.ts',
    from: 'if (authors.some(({ usernames }) => usernames.includes(by)))',
    to: 'if (authors.some(({ usernames }) => usernames[0] === by))',
    without: 'an author approves by a second account',
    killers: [judged],
  },
  {
    file: 'reconcile/fleet/four-eyes.ts',
    from: 'if (by === undefined) return',
    to: "if (by === '') return",
    without: 'an approval without a name is not told as such',
    killers: [judged],
  },
  {
    file: 'reconcile/fleet/four-eyes.ts',
    from: ' && isVerified(fleet, revision);',
    to: ';',
    without: 'the signer of another commit counts as the author',
    killers: [judged],
  },
  {
    file: 'reconcile/fleet/four-eyes.ts',
    from: 'if (authors.length === 0) {',
    to: 'if (people.length === 0) {',
    without: 'a signer that nothing knows approves as a person that is listed',
    killers: [judged],
  },
  {
    file: 'reconcile/fleet/four-eyes.ts',
    from: 'if (people.some(({ usernames }) => usernames.includes(by))) return undefined;',
    to: 'if (people.length > 0) return undefined;',
    without: 'an author approves by an account that is not listed',
    killers: [judged, lived],
  },
  {
    file: 'reconcile/fleet/prune.ts',
    from: '=== confirmation && !refused) return',
    to: '=== confirmation) return',
    without: 'the author of a commit confirms what it deletes',
    killers: [judged, admitted],
  },
  {
    file: 'reconcile/cluster/observe/read-four-eyes.ts',
    from: 'new Set([...applied, ...marked].map(keyOf))',
    to: 'new Set(marked.map(keyOf))',
    without: 'an editor of the cluster takes its label away, and approves',
    killers: [lived],
  },
  {
    file: 'reconcile/fleet/inventory.ts',
    from: '[...unseen, ...strayed.map(',
    to: '[...unseen, ...strayed.slice(0, 0).map(',
    without: 'a cluster leaves the inventory, and what its fleet demands, with its label',
    killers: ['test/unit/fleet/inventory.test.ts', admitted],
  },
  {
    file: 'reconcile/cluster/observe/read-four-eyes.ts',
    from: 'refusedApprovals(cluster, fleet, { before })',
    to: 'refusedApprovals(cluster, fleet)',
    without: 'an author approves once another person has signed any later commit',
    killers: [lived],
  },
  {
    file: 'reconcile/cluster/observe/read-four-eyes.ts',
    from: 'if (!isMarked(fleet, cluster)) return nothing;',
    to: '',
    without: 'a cluster names a fleet of others by an annotation, and is told of it',
    killers: [lived],
  },
  {
    file: 'reconcile/cluster/observe/read-four-eyes.ts',
    from: 'const now = reads.get(key) ?? kube.get',
    to: 'const now = kube.get',
    without: 'each cluster that bears an approval costs a request',
    killers: [lived],
  },
  {
    file: 'reconcile/cluster/report/status.ts',
    from: 'const signers = isAsAsked ? [] :',
    to: 'const signers =',
    without: 'signers of what is done long ago approve nothing new',
    killers: [lived],
  },
  {
    file: 'reconcile/cluster/observe/read-four-eyes.ts',
    from: "unread === 'all' ? []",
    to: 'unread.length > 0 ? []',
    without: 'approvals count where the fleet may not be read',
    killers: [lived],
  },
  {
    file: 'reconcile/cluster/know/refused-approvals.ts',
    from: 'cluster: withoutRefused(seen.cluster, refused), ',
    to: '',
    without: 'what is refused is acted on',
    killers: [lived],
  },
  {
    file: 'reconcile/cluster/foresee/plan-clusters.ts',
    from: 'return withoutRefused(intent.cluster, refused);',
    to: 'return intent.cluster;',
    without: 'a plan goes on by an approval that does not count',
    killers: [lived],
  },
];
