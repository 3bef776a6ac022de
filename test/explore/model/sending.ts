import type { Leased } from '../../../reconcile/cluster/act/actions/define.ts';
import { requests } from '../../../reconcile/cluster/act/requests/all.ts';
import type { ReadAt } from '../../../reconcile/cluster/act/requests/read-at.ts';
import type { Written } from '../../../reconcile/cluster/act/requests/request.ts';
import { wordsOf as wordsIn, writtenBy as writtenIn } from '../../../reconcile/requests/define.ts';
import { type Performed, perform as performOn } from '../../../reconcile/requests/play.ts';
import type { Request } from '../../../reconcile/requests/program.ts';
import { type Answered, type Position, type Standing, standingAfter } from '../../../reconcile/requests/standing.ts';
import type { Code } from './code.ts';
import { actedBy } from './former.ts';
import { type Sending, worldHost } from './host.ts';
import { clusterName, namespace } from './look.ts';
import { objectOf } from './objects.ts';
import type { Acting, World } from './state.ts';

/** Real programs, one request at a time. */

const positions = new WeakMap<readonly Answered[], Position>();

/** Programs that have got just these answers, and may go on: each once. */
const running = new WeakMap<readonly Answered[], Standing>();

/** Where whoever acts stands. */
export function positionOf({ action, answers, claimed }: Acting, code: Code): Position {
  return positions.get(answers) ?? noted(answers, standingAfter(code.run(action, claimed), answers));
}

/** Where it stands with one more answer: a program that has just these answers goes on, and is not replayed. */
export function positionAfter(acting: Acting, answers: readonly Answered[], code: Code): Position {
  const known = positions.get(answers);
  if (known) return known;
  const last = answers.at(-1);
  const isNext = answers.length === acting.answers.length + 1 && acting.answers.every((one, at) => one === answers[at]);
  const standing = isNext ? running.get(acting.answers) : undefined;
  if (!standing || !last) return positionOf({ ...acting, answers }, code);
  running.delete(acting.answers);
  return noted(answers, standing.after(last));
}

function noted(answers: readonly Answered[], standing: Standing): Position {
  positions.set(answers, standing.position);
  if (standing.position.kind === 'asks') running.set(answers, standing);
  return standing.position;
}

/** What an action sees of the resource that it was leased in. */
export function claimedIn({ cluster: { uid, annotations = {}, deleting } }: World): Leased {
  return { namespace, name: clusterName, uid, annotations, deleting: deleting === true };
}

/** What it does to the world, where that is as whoever sends it takes it to be. */
export function perform(
  world: World,
  request: Request,
  sending: Sending & { readonly former?: true | undefined },
): Performed<World> {
  let performed = { kind: 'wait' } as Performed<World>;
  const after = actedBy(sending, world, (seen) => {
    performed = performOn(request, requests, seen, worldHost(sending));
    return performed.kind === 'answered' ? performed.state : seen;
  });
  return performed.kind === 'answered' ? { ...performed, state: after } : performed;
}

export function writtenBy(request: Request): Written | undefined {
  return writtenIn(request, requests);
}

export function wordsOf(request: Request): string {
  return wordsIn(request, requests);
}

/** What was read is not current any more once its object has been written to. */
export function outdated(answers: readonly Answered[], before: World, after: World): readonly Answered[] {
  if (before === after || answers.length === 0) return answers;
  let changed = false;
  const all = answers.map((answered) => {
    if ('refused' in answered) return answered;
    const answer = withOutdated(answered.answer, before, after);
    if (answer === answered.answer) return answered;
    changed = true;
    return { answer };
  });
  return changed ? all : answers;
}

interface Readable {
  readonly readAt?: ReadAt;
}

function withOutdated(answer: unknown, before: World, after: World): unknown {
  if (Array.isArray(answer)) {
    const all = answer.map((one) => withOutdated(one, before, after));
    return all.some((one, index) => one !== answer[index]) ? all : answer;
  }
  const { readAt } = (typeof answer === 'object' && answer ? answer : {}) as Readable;
  if (readAt?.at !== 'current') return answer;
  const { object, name } = readAt;
  if (objectOf(before, object, name) === objectOf(after, object, name)) return answer;
  return { ...(answer as object), readAt: { ...readAt, at: 'written since' } };
}
