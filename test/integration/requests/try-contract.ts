import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { failureOf } from '../../../reconcile/cluster/know/outcome.ts';
import type { Kube, KubeObject } from '../../../reconcile/interfaces/kube.ts';
import type { Subject } from '../../../reconcile/requests/define.ts';
import { perform } from '../../../reconcile/requests/play.ts';
import { StepError } from '../../../reconcile/requests/refusals.ts';
import { type Answered, standingAfter } from '../../../reconcile/requests/standing.ts';
import { type Contract, whenOthersAct } from './contract.ts';
import type { Part } from './part.ts';
import type { SomeScene } from './scene.ts';
import type { Stage } from './stage.ts';
import { comparable, lacking, textsIn } from './told.ts';

/** How a half ended, and what it left. */
interface Ended<S> {
  readonly end: { readonly answer: unknown } | { readonly refused: string };
  /** For a person, when it is not what was meant. */
  readonly words: string;
  readonly left: S;
}

/** A contract, and where it is tried. */
interface Trial<A extends Subject, At extends SomeScene, S> {
  readonly contract: Contract<At, S>;
  readonly part: Part<A, At, S>;
  readonly scene: At;
  /** The world after other invocations have acted. */
  readonly meanwhile: S[];
}

/** How long etcd's other members may lag, in milliseconds. */
const lag = 5_000;

/** @throws {AssertionError} where the halves differ. */
export async function tryContract<A extends Subject, At extends SomeScene, S>(
  kind: string,
  contract: Contract<At, S>,
  part: Part<A, At, S>,
  stage: Stage,
): Promise<void> {
  const work = async () =>
    compare(kind, { contract, part, scene: await part.makeScene(stage, contract), meanwhile: [] });
  await (contract.turn === undefined ? work() : stage.etcd[contract.turn.version][contract.turn.of].use(work));
}

async function compare<A extends Subject, At extends SomeScene, S>(
  kind: string,
  trial: Trial<A, At, S>,
): Promise<void> {
  const { contract, part, scene, meanwhile } = trial;
  await (contract.start ?? part.start)(scene);
  const before = await part.look(scene);
  const live = await liveHalf(trial, before);
  const { modelled, sent } = modelHalf(trial, before.state);
  assert.ok(sent.has(kind), `the contract never gets to ${kind}: ${live.words}; model: ${modelled.words}`);

  const { refused, differs } = contract;
  assert.equal(endOf(live), refused ?? 'well', `live: ${live.words}`);
  assert.equal(endOf(modelled), differs?.model ?? refused ?? 'well', `model: ${modelled.words}`);
  const known = textsIn([before.state, ...meanwhile]);
  const view = ({ end, left }: Pick<Ended<S>, 'end' | 'left'>) => {
    const answer = 'answer' in end && { answer: end.answer };
    const also = contract.also && { also: contract.also(left) };
    return lacking(comparable({ ...answer, left: part.told(left, known), ...also }, known), differs?.not ?? []);
  };
  const wanted = view(differs?.model === undefined ? modelled : { ...live, left: modelled.left });
  // Only an etcd that runs may show later what it has decided.
  const deadline = performance.now() + (part.hasEtcd(before.state) ? lag : 0);
  for (let left = live.left; ; left = (await part.look(scene)).state) {
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

function endOf({ end }: Pick<Ended<unknown>, 'end'>): string {
  return 'answer' in end ? 'well' : end.refused;
}

async function liveHalf<A extends Subject, At extends SomeScene, S>(
  { contract, part, scene, meanwhile }: Trial<A, At, S>,
  { state, runLive }: Awaited<ReturnType<Part<A, At, S>['look']>>,
): Promise<Ended<S>> {
  const others = async () => {
    for (const doing of contract.others ?? []) await scene.act(doing);
    meanwhile.push((await part.look(scene)).state);
  };
  const signal = AbortSignal.timeout(contract.patience ?? 20_000);
  const ended = await runLive(contract.asks(state, scene), withOthers(scene.stage.us, others), signal).then(
    (answer) => ({ end: { answer }, words: 'it was done' }),
    (error: unknown) => refusal(error),
  );
  return { ...ended, left: (await part.look(scene)).state };
}

function refusal(error: unknown): Pick<Ended<unknown>, 'end' | 'words'> {
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

/** As a plan does it, but for what others do in between. */
function modelHalf<A extends Subject, At extends SomeScene, S>(
  { contract, part, scene, meanwhile }: Trial<A, At, S>,
  start: S,
) {
  const answers: Answered[] = [];
  const sent = new Set<string>();
  const stale = new Set<string>();
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
    const done = perform(position.request, part.requests, left, part.host(stale));
    if (done.kind === 'wait')
      return { sent, modelled: { end: { refused: 'retryable Timeout' }, words: 'waits', left } };
    if (done.kind === 'answered') left = done.state;
    answers.push(done.kind === 'answered' ? { answer: done.answer } : { refused: done.failure });
  }
}
