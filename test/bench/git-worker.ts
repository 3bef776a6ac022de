import { desiredTree } from '../../functions/read/desired-tree.ts';
import { fetchTree } from '../../gitops/git/fetch.ts';
import { connect } from '../../gitops/git/http.ts';
import { resolveRef } from '../../gitops/git/resolve.ts';
import { formatRevision } from '../../gitops/git/revision.ts';
import type { Tree } from '../../gitops/git/tree.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { labels } from '../../manifests/render/names.ts';
import { planFleet } from '../../reconcile/fleet/plan.ts';
import { localNetwork } from '../support/network.ts';

/** A process that does with a repository what a tick does, and says what each part of it took. Bundled like a tick. */

export interface WorkerOutput {
  readonly requests: number;
  readonly resolveMs: number;
  /** Asking for the commit, until each of its objects can be read. */
  readonly fetchMs?: number;
  /** Taking folders and files out of the pack. */
  readonly objectsMs?: number;
  /** Parsing and validating the specs under the path. */
  readonly readMs?: number;
  /** Comparing them with as many live clusters. */
  readonly diffMs?: number;
  readonly specs?: number;
}

const [what = '', url = '', path = '.'] = process.argv.slice(2);
const signal = AbortSignal.timeout(120_000);
using git = connect({ url, ref: 'main', path }, {}, localNetwork);
const clock = stopwatch();
const revision = await resolveRef(git, signal);
const resolveMs = clock();

if (what === 'check') print({ requests: git.requests(), resolveMs });
else {
  const fleet = fleetOf();
  const tree = await fetchTree(git, revision, signal);
  const fetchMs = clock();
  const { timed, spent } = timing(tree);
  const desired = await desiredTree(timed, fleet, { signal });
  const objectsMs = spent();
  const readMs = clock() - objectsMs;
  if (desired.problems.length > 0) throw new Error(JSON.stringify(desired.problems[0]));
  // As they are live after the commit before: every second one has another size.
  const clusters = desired.specs.map(
    ({ object, namespace, name }, n): EtcdCluster => ({
      ...(object as unknown as EtcdCluster),
      metadata: { name, namespace, uid: `uid-${n}`, generation: 1, labels: { [labels.fleet]: 'uid' } },
    }),
  );
  clock();
  const plan = planFleet({ fleet, fleets: [fleet], clusters, revision: formatRevision(revision), tree: desired });
  const diffMs = clock();
  if (plan.applies.length !== desired.specs.length) throw new Error(`${plan.applies.length} are applied`);
  print({ requests: git.requests(), resolveMs, fetchMs, objectsMs, readMs, diffMs, specs: desired.specs.length });
}

/** A tree that counts what it takes to read it: one object after the other. */
function timing(tree: Tree): { readonly timed: Tree; spent(): number } {
  let milliseconds = 0;
  const counted =
    <T>(read: (oid: string) => Promise<T>) =>
    async (oid: string): Promise<T> => {
      const started = performance.now();
      try {
        return await read(oid);
      } finally {
        milliseconds += performance.now() - started;
      }
    };
  return { timed: { ...tree, folder: counted(tree.folder), file: counted(tree.file) }, spent: () => milliseconds };
}

function fleetOf(): EtcdFleet {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: { name: 'bench', namespace: 'payments', uid: 'uid' },
    spec: { git: { url, ref: 'main', path } },
  };
}

function print(output: WorkerOutput): void {
  console.log(JSON.stringify(output));
}

/** Each call says how many milliseconds have gone since the one before. */
function stopwatch(): () => number {
  let last = performance.now();
  return () => {
    const now = performance.now();
    const passed = now - last;
    last = now;
    return passed;
  };
}
