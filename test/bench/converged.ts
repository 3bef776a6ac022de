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

  const deadline = performance.now() + patience;
  let seen: TickOutput | undefined;
  while (!isConverged(seen, clusters)) {
    if (performance.now() > deadline) throw new Error(`${clusters} clusters did not converge: ${summary(seen)}`);
    const { stdout }: Measured = await measure(`${directory}/tick.js`, ['--output', 'json', '--wait', '30'], env);
    seen = JSON.parse(stdout) as TickOutput;
    refuseFailure(seen);
    if (process.stderr.isTTY) process.stderr.write(`\r${summary(seen)}\u001b[K\r`);
  }
  return { members: sizes.reduce((sum, size) => sum + size, 0) };
}

/** @throws at once when Git could not be read or applied: no more ticks will cure that here. */
function refuseFailure({ fleets, clusters }: TickOutput): void {
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
