import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { printable } from '../../manifests/printable.ts';
import { isUnmanaged } from '../../reconcile/cluster/know/unmanaged.ts';
import { approvalsGiven } from '../../reconcile/objects/approvals.ts';
import { conditionOf } from '../../reconcile/objects/conditions.ts';
import { meaningOf } from '../../reconcile/reasons/reasons.ts';
import { clusterState } from '../page/state.ts';
import { approvalsOf, askedText } from './approve.ts';
import type { Asked, ExitCode } from './command.ts';
import { defragmentationAsked } from './defrag.ts';
import { shownLines } from './first-problem.ts';
import { clusterNamed, dataText, nextCommand } from './objects.ts';
import { originLines, originOf } from './origin.ts';
import type { Subject } from './subject.ts';
import { coloured } from './table.ts';
import { whyObject } from './why-object.ts';
import { concernsOf, since, stateCell, toldLines } from './words.ts';

/** What it is doing or waiting for, why, and what a person can do about it. */
export async function why(subject: Subject, asked: Asked): Promise<ExitCode> {
  if (subject.kind !== 'EtcdCluster') return whyObject(subject, asked);
  const { name } = subject;
  const cluster = await clusterNamed(name, asked);
  const { out, output, colours } = asked;
  const state = clusterState(cluster);
  const concerns = concernsOf(cluster);
  const defragmentation = defragmentationAsked(cluster, asked.now());
  const origin = await originOf(cluster, asked);
  if (output !== 'text') {
    const told = concerns.map(({ tone, reason, message }) => ({
      ...{ needsAPerson: tone === 'bad', reason, message },
      ...{ means: meaningOf(reason)?.means, cure: meaningOf(reason)?.cure },
    }));
    const approvals = approvalsOf(cluster);
    const { plan } = cluster.status ?? {};
    const approved = approvalsGiven(cluster);
    const facts = {
      state: state.word,
      message: state.message,
      concerns: told,
      approvals,
      approved,
      defragmentation,
      plan,
    };
    out(dataText({ ...facts, ...(origin && { git: origin }) }, output));
    return 0;
  }
  const { metadata, status } = cluster;
  out(`${metadata.namespace}/${metadata.name}: ${coloured(stateCell(state), colours)}\n`);
  if (concerns.length === 0) out(`  ${printable(state.message)}\n`);
  if (isUnmanaged(cluster) && state.tone !== 'calm') out(`  ${held(asked, cluster)}\n`);
  for (const { tone, reason, message } of concerns) {
    const [what = '', ...lines] = toldLines(reason, message).map(printable);
    out(`\n${coloured({ tone, text: reason }, colours)}: ${what}\n`);
    for (const line of lines.flatMap(shownLines)) out(`${line}\n`);
  }
  for (const one of approvalsOf(cluster))
    out(`\n${askedText(one, nextCommand(asked, `approve ${metadata.name}`), colours)}`);
  for (const { annotation, value, by } of approvalsGiven(cluster)) {
    const name = by === undefined ? 'it is not known by whom' : `by ${by}`;
    out(`\napproved: ${annotation}=${printable(value)}, ${printable(name)}\n`);
  }
  for (const { action, target, reason, message, until } of status?.setAside ?? []) {
    out(`\nset aside: ${printable(`${action} ${target ?? ''}`.trim())} (${reason}), tried again at ${until}\n`);
    out(`  ${printable(message)}\n`);
  }
  if (defragmentation) {
    const { since: time, waiting } = defragmentation;
    out(`\ndefragmentation is asked for since ${time}; still to come: ${printable(waiting.join(', '))}\n`);
  }
  if (status?.plan) out(`\nplan of generation ${status.plan.generation}: ${printable(status.plan.message)}\n`);
  for (const line of origin ? originLines(origin) : []) out(`\n${printable(line)}\n`);
  const last = conditionOf(status, 'Ready')?.lastTransitionTime;
  if (last !== undefined)
    out(`\nReady has been ${conditionOf(status, 'Ready')?.status} for ${since(last, asked.now())}\n`);
  return 0;
}

/** Also before a pass has seen it. */
function held(asked: Asked, { metadata, spec }: EtcdCluster): string {
  return spec.suspend === true
    ? 'spec.suspend is true: no step is taken until its owner (in Git, its document) takes that back'
    : `it is paused: no step is taken; go on with: ${nextCommand(asked, `resume ${metadata.name}`)}`;
}
