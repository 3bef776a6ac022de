import type { ApprovalAsked } from '../../manifests/api/approval.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { Condition } from '../../manifests/api/metadata.ts';
import { kubectlRatchet } from '../../manifests/render/kubectl.ts';
import type { Concern } from './attention.ts';
import { commitUrl, linked } from './links.ts';
import { type Child, type Html, markup } from './markup.ts';
import { nothingSaid, type Said, saying } from './said.ts';
import type { State, Tone } from './state.ts';
import { ago } from './time.ts';
import { commandBlock, told } from './told.ts';

/** Pieces that several pages are made of. */

export function badge({ tone, word }: { readonly tone: Tone; readonly word: string }): Html {
  return markup`<span class="badge ${tone}">${word}</span>`;
}

export function stateBadge(state: State): Html {
  return badge(state);
}

/** With what is said of it, unless all is well. */
export function stateWithWords(state: State): Html {
  const said = state.tone === 'good' ? markup`` : markup`<div class="said">${told(state.message)}</div>`;
  return markup`${badge(state)}${said}`;
}

/** `main 6f0f5b0e`, the commit led to where its forge is known. */
export function revision(text: string | undefined, fleet?: EtcdFleet): Html {
  const { ref, sha } = /^(?<ref>.+)@sha1:(?<sha>[0-9a-f]{40})$/s.exec(text ?? '')?.groups ?? {};
  if (ref === undefined || sha === undefined) return markup`<span class="quiet">–</span>`;
  const short = markup`<code>${sha.slice(0, 10)}</code>`;
  return markup`<bdi>${ref}</bdi> ${linked(fleet && commitUrl(fleet, sha), short)}`;
}

export interface Fact {
  readonly name: string;
  readonly value: Child;
  readonly wide?: true | 'on a phone';
}

export function facts(all: readonly (Fact | undefined | false)[]): Html {
  const given = all.filter((fact) => fact !== undefined && fact !== false);
  return markup`<dl class="facts">${given.map(
    ({ name, value, wide }) =>
      markup`<div${wide !== undefined && markup` class="${wide === true ? 'wide' : 'long'}"`}><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
}

/** `about`: what it is about, already linked. */
export function concern({ tone, reason, message }: Concern, about?: Html): Html {
  const word = tone === 'bad' ? 'Needs you' : 'To know';
  return markup`<li class="concern ${tone}">${badge({ tone, word })}<div>${about && markup`${about} · `}<strong>${reason}</strong></div>${told(message, reason)}</li>`;
}

export function concerns(items: readonly Html[]): Html {
  return items.length === 0 ? markup`` : markup`<ul class="concerns">${items}</ul>`;
}

/** `said`: what stands above already. */
export function conditionsCard(
  conditions: readonly Condition[] | undefined,
  now: Date,
  said: Said = nothingSaid,
): Html {
  if (!conditions || conditions.length === 0) return markup``;
  const rows = conditions.map(({ type, status, reason, message, lastTransitionTime }, index) => {
    const above = saying(conditions.slice(0, index).map((one) => one.message));
    const words = said.has(message) || above.has(message) ? markup`as above` : told(message);
    return markup`<tr role="row"><th scope="row" role="rowheader">${type}</th><td role="cell" data-label="Status">${badge({ tone: toneOf(type, status), word: status })}</td><td role="cell" data-label="Since" class="nowrap">${ago(lastTransitionTime, now)}</td><td role="cell" data-label="Why"><div>${reason}<div class="said">${words}</div></div></td></tr>`;
  });
  return card('Conditions', table(['Condition', 'Status', 'Since', 'Why'], rows));
}

/** Good when False; of all others True is good. */
const abnormal = new Set(['Reconciling', 'Unlisted', 'ForeignLabel', 'Drifted']);

function toneOf(type: string, status: string): Tone {
  if (status === 'Unknown') return 'calm';
  const isTrue = status === 'True';
  if (type === 'Stalled' || type === 'SetAside') return isTrue ? 'bad' : 'good';
  if (abnormal.has(type)) return isTrue ? 'busy' : 'good';
  if (isTrue) return 'good';
  return type === 'Available' ? 'bad' : 'busy';
}

export function card(title: string, ...content: readonly Child[]): Html {
  const id = title.toLowerCase().replaceAll(/[^a-z]+/g, '-');
  return markup`<section class="card" aria-labelledby="${id}"><div class="title"><h2 id="${id}">${title}</h2></div>${content}</section>`;
}

/** The roles say what the elements mean also where a narrow screen lays them out as blocks. */
export function table(heads: readonly string[], rows: readonly Html[], kind = ''): Html {
  return markup`<table role="table" class="${kind}"><thead role="rowgroup"><tr role="row">${heads.map(
    (head) => markup`<th scope="col" role="columnheader">${head}</th>`,
  )}</tr></thead><tbody role="rowgroup">${rows}</tbody></table>`;
}

export function empty(...text: readonly Child[]): Html {
  return markup`<p class="empty">${text}</p>`;
}

interface Asking {
  readonly metadata: { readonly namespace?: string; readonly name: string };
  readonly status?: { readonly approvals?: readonly ApprovalAsked[] | undefined };
}

/** What a person is asked to approve, what is lost with it, and the command; nothing is approved from a page. */
export function approvalsCard({ metadata, status }: Asking, kind: 'cluster' | 'fleet'): Html {
  const asked = status?.approvals ?? [];
  if (asked.length === 0) return markup``;
  const command = kubectlRatchet(
    metadata.namespace ?? 'default',
    `approve ${kind === 'fleet' ? '--fleet ' : ''}${metadata.name}`,
  );
  const rows = asked.map(
    ({ reason, approves, loses }) =>
      markup`<p><strong>${reason}</strong>: <bdi>${approves}</bdi></p><p>Lost with it: <bdi>${loses}</bdi></p>`,
  );
  return card('Asks for your approval', rows, markup`<p>To approve:</p>${commandBlock(command)}`);
}
