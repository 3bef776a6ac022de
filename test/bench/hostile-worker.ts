import { performance } from 'node:perf_hooks';
import { readGit } from '../../functions/pass/read-git.ts';
import { shareGit } from '../../functions/pass/shared-git.ts';
import { createReader } from '../../functions/read/reader.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { Kube } from '../../reconcile/interfaces/kube.ts';
import { allowThisMachine } from '../support/network.ts';
import { peakMebibytes } from '../support/peak-memory.ts';

/** A process that reads the repositories of all fleets of a pass side by side, as a tick does. Bundled like a tick. */

export interface HostileOutput {
  /** Until the last of the others was read. */
  readonly othersMs: number;
  /** Specs of the others: what they should be, or they were not served. */
  readonly specs: number;
  /** Longest time in which no timer fired. */
  readonly gapMs: number;
  readonly peakMegabytes: number;
  /** What the hostile ones' statuses say. */
  readonly said: readonly string[];
}

allowThisMachine();
const [others = '[]', hostile = '[]', limitMs = '10000'] = process.argv.slice(2);
const started = performance.now();
let looked = started;
let gapMs = 0;
const look = setInterval(() => {
  const now = performance.now();
  gapMs = Math.max(gapMs, now - looked - 10);
  looked = now;
}, 10);
/** If not said: as long as Git may take in a tick. */
const signal = AbortSignal.timeout(Number(limitMs));
// None of these fleets names a Secret.
const kube = {} as Kube;
using reader = createReader();
using git = shareGit(signal, reader, () => undefined);

async function read(url: string) {
  const fleet: EtcdFleet = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: { name: 'bench', namespace: 'payments', uid: url },
    spec: { git: { url, ref: 'main', path: '.' } },
  };
  const reading = await readGit(fleet, [], [], { kube, signal, git });
  return { reading, ms: performance.now() - started };
}

const reading = (JSON.parse(hostile) as string[]).map(read);
const good = await Promise.all((JSON.parse(others) as string[]).map(read));
const bad = await Promise.all(reading);
clearInterval(look);
const output: HostileOutput = {
  othersMs: Math.max(...good.map(({ ms }) => ms)),
  specs: good.reduce((sum, { reading }) => sum + (reading.kind === 'tree' ? reading.tree.specs.length : 0), 0),
  gapMs,
  peakMegabytes: peakMebibytes(),
  said: bad.map(({ reading }) => {
    if (reading.kind === 'failed') return `${reading.reason}: ${reading.message}`;
    return reading.kind === 'tree'
      ? `${reading.tree.specs.length} specs, ${reading.tree.problems.length} problems`
      : reading.kind;
  }),
};
process.stdout.write(`${JSON.stringify(output)}\n`);
