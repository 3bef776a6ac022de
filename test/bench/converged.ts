import { type Measured, measure } from './measure.ts';
import { clusterYaml, type Stage } from './stage.ts';

/** So many of the clusters have three members; what comes beyond has one. */
const large = 10;
/** Milliseconds until all must be there. */
const patience = 600_000;

interface TickOutput {
  readonly fleets: readonly {
    readonly name: string;
    readonly ready?: { readonly status: string; readonly message: string };
  }[];
  readonly clusters: readonly { readonly decision: { readonly kind: string; readonly reason: string } }[];
  readonly workRemains: boolean;
  readonly namespacesLeftOut?: Readonly<Record<string, unknown>>;
}

/** Pushes so many clusters at once and ticks until none has anything left to do. @throws when that takes too long. */
export async function pushUntilConverged(
  { work }: Stage,
  clusters: number,
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly members: number }> {
  const sizes = Array.from({ length: clusters }, (_, n) => (n < large ? 3 : 1));
  const names = sizes.map((_, n) => `bench-${String(n).padStart(3, '0')}`);
  const documents = names.map((name, n) => clusterYaml(name, sizes[n] ?? 1));
  await work.push(`${clusters} clusters`, { 'clusters/prod/birth.yaml': documents.join('---\n') });

  await untilConverged({ directory, env }, clusters);
  return { members: sizes.reduce((sum, size) => sum + size, 0) };
}

export interface Ticking {
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  /** Node's. */
  readonly options?: readonly string[];
  /** The tick's. */
  readonly args?: readonly string[];
  /** Milliseconds until all must be there. */
  readonly patienceMs?: number;
}

/** Ticks until there are so many clusters, and none has anything left to do. @throws when that takes too long */
export async function untilConverged(
  { directory, env, options = [], args = [], patienceMs = patience }: Ticking,
  clusters: number,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  let seen: TickOutput | undefined;
  while (!isConverged(seen, clusters)) {
    if (performance.now() > deadline) throw new Error(`${clusters} clusters did not converge: ${summary(seen)}`);
    const all = ['--output', 'json', '--wait', '30', ...args];
    const { stdout }: Measured = await measure(`${directory}/tick.js`, all, env, options);
    seen = JSON.parse(stdout) as TickOutput;
    refuseFailure(seen);
    if (process.stderr.isTTY) process.stderr.write(`\r${summary(seen)}\u001b[K\r`);
  }
}

/** @throws at once when Git could not be read or applied, or a namespace is left out: no more ticks will cure that. */
function refuseFailure({ fleets, clusters, namespacesLeftOut = {} }: TickOutput): void {
  const leftOut = Object.keys(namespacesLeftOut);
  if (leftOut.length > 0) throw new Error(`namespaces are left out: ${leftOut.join(', ')}`);
  if (clusters.length > 0) return;
  for (const { name, ready } of fleets)
    if (ready?.status === 'False') throw new Error(`fleet ${name} is not Ready: ${ready.message}`);
}

function isConverged(seen: TickOutput | undefined, clusters: number): boolean {
  if (seen?.clusters.length !== clusters || seen.workRemains) return false;
  return seen.clusters.every(({ decision }) => decision.kind === 'done');
}

function summary(seen: TickOutput | undefined): string {
  const groups = Map.groupBy(seen?.clusters ?? [], ({ decision }) => decision.reason);
  return [...groups].map(([reason, { length }]) => `${length} ${reason}`).join(', ');
}
