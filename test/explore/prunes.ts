import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../manifests/render/names.ts';
import { type PlanInput, planFleet } from '../../reconcile/fleet/plan.ts';
import { confirmationFor } from '../../reconcile/fleet/prune.ts';
import { clusterOf, entryOf, fleetWith, problemAbout, revision, specOf, treeOf } from '../unit/fleet/objects.ts';
import type { Done } from './task.ts';

/**
 * I8, on the real planner of fleets: what Git no longer lists is deleted only if every one of its conditions holds.
 * There is no time in it, so that every mixture of the conditions is one state, and each has one transition: what is
 * planned.
 */

/** The facts of one cluster that lives. */
interface Facts {
  readonly owned: boolean;
  readonly listed: boolean;
  readonly recorded: boolean;
  readonly fileLeft: boolean;
  readonly elsewhere: boolean;
}

/** The facts of the fleet, and of its tree. */
interface Around {
  readonly prune: boolean;
  readonly complete: boolean;
  readonly broken: boolean;
  readonly others: boolean;
  readonly moved: 'nothing' | 'url' | 'ref' | 'path';
  readonly confirmed: 'nothing' | 'this' | 'another commit' | 'another set';
}

export const pruneScenario = 'what Git no longer lists';
const names = ['orders', 'carts'] as const;
const truths = [false, true];

export function explorePrunes(plan: typeof planFleet = planFleet): Done {
  const begun = performance.now();
  let states = 0;
  for (const mixture of mixtures()) {
    states += 1;
    const found = violationOf(plan, mixture);
    if (found) return { ...base(states, begun), complete: false, found };
  }
  return base(states, begun);
}

function base(states: number, begun: number): Done {
  const took = performance.now() - begun;
  return { scenario: pruneScenario, states, transitions: states, depth: 1, complete: true, took };
}

function* mixtures(): Generator<readonly [Around, Facts, Facts]> {
  for (const around of arounds())
    for (const first of facts()) for (const second of facts()) yield [around, first, second];
}

function violationOf(plan: typeof planFleet, [around, ...all]: readonly [Around, Facts, Facts]): Done['found'] {
  const pruned = planned(plan, around, all);
  const message = judged(around, all, pruned);
  if (message === undefined) return undefined;
  const story = [around, ...all].map((one, index) => `${['the fleet', ...names][index]}: ${JSON.stringify(one)}`);
  return { violation: { invariant: 'I8', message }, story: [...story, `planned: delete ${pruned.join(', ')}`] };
}

function judged(around: Around, all: readonly Facts[], pruned: readonly string[]): string | undefined {
  for (const name of pruned) {
    const of = all[names.indexOf(name as (typeof names)[number])];
    if (!of) return `${name} is deleted, and nobody knows it`;
    if (!around.prune) return `${name} is deleted, and pruning was not asked for`;
    if (!around.complete || around.broken) return `${name} is deleted, and not every document could be read`;
    if (!around.others && !all.some(({ listed }) => listed)) return `${name} is deleted, and the tree is empty`;
    if (around.moved !== 'nothing') return `${name} is deleted, and the inventory came from another ${around.moved}`;
    if (!of.owned) return `${name} is deleted, and is not this fleet's`;
    if (of.listed || of.fileLeft) return `${name} is deleted, and its file is still there`;
    if (!of.recorded) return `${name} is deleted, and nobody knows which file it came from`;
    if (of.elsewhere) return `${name} is deleted, and another fleet lists it`;
  }
  return pruned.length > 1 && around.confirmed !== 'this'
    ? 'several are deleted without a confirmation of this commit and set'
    : undefined;
}

function planned(plan: typeof planFleet, around: Around, all: readonly Facts[]): readonly string[] {
  const having = (has: (of: Facts) => boolean) => names.filter((_, index) => all[index] && has(all[index]));
  const clusters = names.map((name, index) => clusterOf(name, { owner: all[index]?.owned ? 'production' : 'other' }));
  const git = { url: 'https://git.example.com/platform/etcd.git', ref: 'main', path: '.' };
  const source = around.moved === 'nothing' ? git : { ...git, [around.moved]: 'another' };
  const inventory = having(({ recorded }) => recorded).map((name) => entryOf(name));
  const fleet = fleetWith({ inventory, source }, { prune: around.prune, annotations: confirmations(around, clusters) });
  const other = fleetWith(
    { inventory: having(({ elsewhere }) => elsewhere).map((name) => entryOf(name)) },
    { name: 'other' },
  );
  const specs = [...having(({ listed }) => listed), ...(around.others ? ['users'] : [])].map((name) => specOf(name));
  const files = new Set([
    ...specs.map(({ file }) => file),
    ...having(({ fileLeft }) => fileLeft).map((name) => `${name}.yaml`),
  ]);
  const problems = around.broken ? [problemAbout('broken.yaml')] : [];
  const tree = treeOf(specs, { files, problems, complete: around.complete });
  const input: PlanInput = { fleet, fleets: [fleet, other], clusters, revision, tree };
  return plan(input).prune.map(({ metadata }) => metadata.name);
}

function confirmations({ confirmed }: Around, clusters: readonly EtcdCluster[]): Record<string, string> {
  const key = annotations.confirmPrune;
  switch (confirmed) {
    case 'nothing':
      return {};
    case 'this':
      return { [key]: confirmationFor(revision, clusters) };
    case 'another commit':
      return { [key]: confirmationFor(revision.replaceAll('a', 'b'), clusters) };
    case 'another set':
      return { [key]: confirmationFor(revision, clusters.slice(1)) };
  }
}

function* facts(): Generator<Facts> {
  for (const owned of truths)
    for (const listed of truths)
      for (const recorded of truths)
        for (const fileLeft of truths)
          for (const elsewhere of truths) yield { owned, listed, recorded, fileLeft, elsewhere };
}

function* arounds(): Generator<Around> {
  for (const prune of truths)
    for (const complete of truths)
      for (const broken of truths)
        for (const others of truths)
          for (const moved of ['nothing', 'url', 'ref', 'path'] as const)
            for (const confirmed of ['nothing', 'this', 'another commit', 'another set'] as const)
              yield { prune, complete, broken, others, moved, confirmed };
}
