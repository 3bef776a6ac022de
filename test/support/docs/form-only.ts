/**
 * Blocks of commands that no test types: commands.test.ts reads them with bash and asks programs of ours whether they
 * know them, kubectl.test.ts asks kubectl. Why nothing types them, by place (see places.ts).
 */
interface FormOnly {
  readonly places: readonly string[];
  readonly why: string;
}

export const formOnly: readonly FormOnly[] = [
  {
    places: ['CONTRIBUTING.md', 'CONTRIBUTING.md#on-real-nodes'],
    why: 'they start the tests and the tools themselves: a test of them would run all others again',
  },
  {
    places: ['SECURITY.md#where-a-release-comes-from'],
    why: 'cosign and gh ask a registry and a log of signatures about a release that is published',
  },
  {
    places: ['docs/how-to/kubectl-plugin.md#install-it:1', 'docs/how-to/kubectl-plugin.md#install-it:2'],
    why: 'npm fetches packages: test/integration/manifests/plugin-package installs what is packed, by npm and as krew does',
  },
  {
    places: ['docs/how-to/adopt.md#1-look:2'],
    why: 'kubectl exec: of the API of a kubelet the process node has logs only',
  },
  {
    places: ['docs/releases/README.md#make-a-release'],
    why: 'the digest is of an image that was pushed: test/integration/manifests/release calls what the script calls',
  },
  {
    places: ['docs/runbooks/alerts.md#etcdapprovalasked'],
    why: 'the same command is typed for docs/how-to/scale-and-heal.md; test/integration/manifests/plugin-approve has its ways',
  },
  {
    places: ['docs/runbooks/certificates.md#the-ca-is-lost'],
    why: 'test/e2e/tls-managed runs the command as the status prints it',
  },
  {
    places: ['docs/runbooks/certificates.md#cert-manager'],
    why: 'its log is that of a Deployment, and test/e2e/cert-manager-controllers runs the controllers as a process',
  },
  {
    places: ['docs/runbooks/different-data.md#a-majority-agrees'],
    why: 'nothing is to be done there: test/e2e/corruption; the story of DataDiffer types the same command',
  },
];

/** Blocks of text that no test compares with what is printed, by page. */
export const shownOnly: Readonly<Record<string, string>> = {
  'ARCHITECTURE.md': 'a picture',
  'docs/explanation/life-of-a-cluster.md': 'a picture',
  'docs/explanation/plans.md': 'a picture',
  'docs/explanation/the-seal.md': 'a picture',
  'docs/how-to/backups.md': 'the table that docs/tutorials/first-restore.md compares',
  'docs/how-to/fleets.md': 'the table that docs/tutorials/first-cluster.md compares',
  'docs/how-to/knative.md': 'a picture',
  'docs/how-to/plans.md': 'an example that is shortened: test/unit/cluster/plan holds what is printed',
  'docs/reference/command-line.md': 'generated from the programs: npm run check',
};
