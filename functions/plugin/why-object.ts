import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { printable } from '../../manifests/printable.ts';
import type { KubeObject } from '../../reconcile/interfaces/kube.ts';
import type { Concern } from '../page/attention.ts';
import type { State } from '../page/state.ts';
import { approvalsOf, askedText } from './approve.ts';
import type { Asked, ExitCode } from './command.ts';
import { concernLines } from './first-problem.ts';
import { shownKind } from './kinds/kinds.ts';
import type { ShownKind } from './kinds/shown.ts';
import { dataText, nextCommand } from './objects.ts';
import { calledSubject, objectOf, type Subject } from './subject.ts';
import { coloured, lineWidth } from './table.ts';
import { stateCell } from './words.ts';
import { wrapped } from './wrap.ts';

/** What an object of any kind is doing or waiting for, why, and what a person can do about it. */
export async function whyObject(subject: Subject, asked: Asked): Promise<ExitCode> {
  const { out, output, colours } = asked;
  const object = await objectOf(subject, asked);
  const kind = shownKind(subject.kind);
  const now = asked.now();
  const state = kind.state(object);
  const concerns = concernsAbout(kind, object, now);
  const facts = kind.facts(object, now);
  const approvals = subject.kind === 'EtcdFleet' ? approvalsOf(object as EtcdFleet) : [];
  if (output !== 'text') {
    const told = concerns.map(({ tone, reason, message }) => {
      const { means, cure } = kind.meaningOf(reason) ?? {};
      return { needsAPerson: tone === 'bad', reason, message, means, cure };
    });
    const listed = facts.map(([label, said]) => ({ label, said }));
    out(dataText({ state: state.word, message: state.message, concerns: told, approvals, facts: listed }, output));
    return 0;
  }
  out(`${calledSubject(subject, asked)}: ${coloured(stateCell(state), colours)}\n`);
  if (concerns.length === 0 && state.message !== '') out(`  ${printable(state.message)}\n`);
  for (const concern of concerns) {
    const lines = concernLines(concern, colours, kind.meaningOf(concern.reason));
    out(`\n${lines.map((line) => `${line}\n`).join('')}`);
  }
  for (const one of approvals)
    out(`\n${askedText(one, nextCommand(asked, `approve --fleet ${subject.name}`), colours)}`);
  const widest = Math.max(0, ...facts.map(([label]) => label.length));
  if (facts.length > 0) out('\n');
  for (const [label, said] of facts) {
    const [first = '', ...more] = wrapped(printable(said), lineWidth - widest - 3);
    out(`${label.padEnd(widest)}   ${first}\n`);
    for (const line of more) out(`${' '.repeat(widest + 3)}${line}\n`);
  }
  return 0;
}

function concernsAbout(kind: ShownKind, object: KubeObject, now: Date): readonly Concern[] {
  const state = kind.state(object);
  const own = kind.concerns?.(object, now) ?? [];
  return own.length > 0 ? own : ofState(state);
}

function ofState({ tone, reason, message }: State): readonly Concern[] {
  if ((tone !== 'bad' && tone !== 'busy') || reason === undefined) return [];
  return [{ tone, reason, message }];
}
