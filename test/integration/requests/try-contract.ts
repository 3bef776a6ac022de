import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { StatefulSet } from '../../../manifests/kube-types.ts';
import { type RequestKind, requests } from '../../../reconcile/cluster/act/requests/all.ts';
import type { ReadAt } from '../../../reconcile/cluster/act/requests/read-at.ts';
import { runLive } from '../../../reconcile/cluster/act/requests/run-live.ts';
import { observationHost } from '../../../reconcile/cluster/foresee/host.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { failureOf, StepError } from '../../../reconcile/cluster/know/outcome.ts';
import { type Kube, type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { perform } from '../../../reconcile/requests/model.ts';
import { type Answered, standingAfter } from '../../../reconcile/requests/standing.ts';
import { type Contract, whenOthersAct } from './contract.ts';
import { member } from './members.ts';
import { makeScene, type Scene, type Seen } from './scene.ts';
import type { Stage } from './stage.ts';
import { comparable, lacking, textsIn, told } from './told.ts';

/** How a half ended, and what it left. */
interface Ended {
  readonly end: { readonly answer: unknown } | { readonly refused: string };
  /** For a person, when it is not what was meant. */
  readonly words: string;
  readonly left: Observation;
}

/** How long etcd's other members may lag, in milliseconds. */
const lag = 5_000;

/** @throws {AssertionError} where the halves differ. */
export async function tryContract(kind: RequestKind, contract: Contract, stage: Stage): Promise<void> {
  const work = () => compare(kind, contract, stage);
  await (contract.turn === undefined ? work() : stage.etcd[contract.turn.version][contract.turn.of].use(work));
}

async function compare(kind: RequestKind, contract: Contract, stage: Stage): Promise<void> {
  const scene = await makeScene(stage, contract.tls);
  await (contract.start ?? member)(scene);
  const before = await scene.look();
  const meanwhile: Observation[] = [];
  const live = await liveHalf(contract, scene, before, meanwhile);
  const { modelled, sent } = modelHalf(contract, scene, before.observation, meanwhile);
  assert.ok(sent.has(kind), `the contract never gets to ${kind}: ${live.words}; model: ${modelled.words}`);

  const { refused, differs } = contract;
  assert.equal(endOf(live), refused ?? 'well', `live: ${live.words}`);
  assert.equal(endOf(modelled), differs?.model ?? refused ?? 'well', `model: ${modelled.words}`);
  const known = textsIn([before.observation, ...meanwhile]);
  const view = ({ end, left }: Pick<Ended, 'end' | 'left'>) => {
    const answer = 'answer' in end && { answer: end.answer };
    const also = contract.also && { also: contract.also(left) };
    return lacking(comparable({ ...answer, left: told(left, known), ...also }, known), differs?.not ?? []);
  };
  const wanted = view(differs?.model === undefined ? modelled : { ...live, left: modelled.left });
  // Only an etcd that runs may show later what it has decided.
  const deadline = performance.now() + (before.observation.membership.kind === 'known' ? lag : 0);
  for (let left = live.left; ; left = (await scene.look()).observation) {
    if (performance.now() < deadline && !isEqual(view({ ...live, left }), wanted)) {
      await pause(100);
      continue;
    }
    assert.deepEqual(view({ ...live, left }), wanted, 'what the live half left and answered, and the model did not');
    return;
  }
}

function isEqual(a: unknown, b: unknown): boolean {
  try {
    assert.deepEqual(a, b);
    return true;
  } catch (error) {
    if (error instanceof assert.AssertionError) return false;
    throw error;
  }
}

function endOf({ end }: Ended): string {
  return 'answer' in end ? 'well' : end.refused;
}

async function liveHalf(contract: Contract, scene: Scene, seen: Seen, meanwhile: Observation[]): Promise<Ended> {
  const { observation, etcd } = seen;
  const others = async () => {
    for (const doing of contract.others ?? []) await scene.act(doing);
    meanwhile.push((await scene.look()).observation);
  };
  const context = {
    kube: withStatefulSets(withOthers(scene.kube, others)),
    etcd,
    cluster: observation.cluster,
    signal: AbortSignal.timeout(contract.patience ?? 20_000),
  };
  const ended = await runLive(contract.asks(observation, scene), context).then(
    (answer) => ({ end: { answer }, words: 'it was done' }),
    (error: unknown) => refusal(error),
  );
  return { ...ended, left: (await scene.look()).observation };
}

function refusal(error: unknown): Pick<Ended, 'end' | 'words'> {
  const { class: kind, reason, message } = failureOf(error);
  return { end: { refused: `${kind} ${reason}` }, words: message };
}

function withOthers(kube: Kube, others: () => Promise<void>): Kube {
  return {
    ...kube,
    get: async <T extends KubeObject>(...[resource, namespace, name, options]: Parameters<Kube['get']>) => {
      if (name !== whenOthersAct) return kube.get<T>(resource, namespace, name, options);
      await others();
      return undefined;
    },
  };
}

/** What waits for the controller of StatefulSets is told by us that it has seen the new template. */
function withStatefulSets(kube: Kube): Kube {
  return {
    ...kube,
    update: async <T extends KubeObject>(resource: Resource, object: T, options = {}) => {
      const written = await kube.update<T>(resource, object, options);
      if (resource !== resources.statefulSets) return written;
      const { generation = 0 } = written.metadata;
      const status = { replicas: 1, observedGeneration: generation, updateRevision: `revision-${generation}` };
      await kube.updateStatus<StatefulSet>(resource, { ...(written as unknown as StatefulSet), status });
      return written;
    },
  };
}

/** As a plan does it, but for what others do in between. */
function modelHalf(contract: Contract, scene: Scene, start: Observation, meanwhile: readonly Observation[]) {
  const answers: Answered[] = [];
  const sent = new Set<string>();
  const stale = new Set<string>();
  const isCurrent = ({ object, name }: ReadAt) => !stale.has(`${object}/${name}`);
  let left = start;
  for (;;) {
    const { position } = standingAfter(contract.asks(start, scene), answers);
    if (position.kind === 'done') return { sent, modelled: { end: { answer: position.result }, words: 'done', left } };
    if (position.kind === 'ended') return { sent, modelled: { ...refusal(new StepError(position.failure)), left } };
    const { kind, ask } = position.request;
    sent.add(kind);
    if ((ask as { readonly name?: string }).name === whenOthersAct) {
      left = meanwhile[0] ?? left;
      for (const { object, name } of contract.others ?? []) stale.add(`${object}/${name}`);
      answers.push({ answer: undefined });
      continue;
    }
    const done = perform(position.request, requests, left, { ...observationHost, isCurrent });
    if (done.kind === 'wait')
      return { sent, modelled: { end: { refused: 'retryable Timeout' }, words: 'waits', left } };
    if (done.kind === 'answered') left = done.state;
    answers.push(done.kind === 'answered' ? { answer: done.answer } : { refused: done.failure });
  }
}
