import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import type { EndpointStatus } from '../../interfaces/etcd.ts';
import type {
  Endpoint,
  LeafView,
  Membership,
  Observation,
  PodView,
  Slot,
  StatefulSetView,
} from '../know/observation.ts';
import type { Inputs } from '../know/spec/inputs.ts';

/**
 * What a simulation knows of its own doing, and no look at the world would tell. It travels along in what it makes; no
 * rule sees it.
 */

/** What its next pod is made from; absent where it was only ever looked at. */
type Template = StatefulSetView & { readonly inputs?: Inputs };

/** Hash of the inputs that it was made from. */
type Made = PodView & { readonly madeFrom?: string };

/** How many objects it has made, so that no two have one UID. */
export function madeSoFar(observation: Observation & { readonly made?: number }): number {
  return observation.made ?? 0;
}

/**
 * What a pod that is made now would be made from; `undefined` where a crash left another template than the peer asks
 * for.
 */
export function templateOf({ peer, statefulSet }: Slot): Inputs | undefined {
  const known = (statefulSet as Template | undefined)?.inputs;
  if (known) return known;
  return peer && statefulSet?.inputsHash === inputsHash(peer.inputs) ? peer.inputs : undefined;
}

export function withTemplate(view: StatefulSetView, inputs: Inputs): StatefulSetView {
  const template: Template = { ...view, inputsHash: inputsHash(inputs), updateRevision: '', inputs };
  return template;
}

/** What this pod was made from, as long as anything remembers it. */
export function madeFrom({ pod, statefulSet }: Slot): string | undefined {
  const known = (pod as Made | undefined)?.madeFrom;
  if (known !== undefined || !pod) return known;
  // Of a template that another client changed, the pods are made that came since; older ones are made of ours.
  const isOurs = pod.upToDate === (statefulSet?.drift ? 'no' : 'yes');
  return isOurs ? statefulSet?.inputsHash : statefulSet?.drift && 'a template of another client';
}

export function rememberingItsTemplate(pod: PodView, hash: string | undefined): PodView {
  const made: Made = { ...pod, ...(hash !== undefined && { madeFrom: hash }) };
  return made;
}

type Listed = Extract<Membership, { kind: 'known' }>;

/** What its members would report if they could: etcd remembers its list when no member runs. */
type Remembering = Observation & { readonly listed?: Listed };

export function rememberedList({ membership, listed }: Remembering): Listed | undefined {
  return membership.kind === 'known' ? membership : listed;
}

export function rememberingTheList(observation: Observation, listed: Listed): Observation {
  const remembering: Remembering = { ...observation, listed };
  return remembering;
}

/** Its cluster was given up: no member of it is asked. */
export function forgettingTheList(observation: Remembering): Observation {
  const { listed: _, ...rest } = observation;
  return { ...rest, membership: { kind: 'unknown', cause: 'no member runs' } };
}

/** Written, and not yet loaded by its holder. */
type Written = LeafView & { readonly written?: { readonly signedBefore: string | undefined } };

export function asWritten(leaf: LeafView, before: Written): LeafView {
  const written: Written = { ...leaf, written: before.written ?? { signedBefore: before.facts?.issuer } };
  return written;
}

export function isWritten(leaf: Written): boolean {
  return leaf.written !== undefined;
}

/** By another CA than the one that it is written in place of, or in place of none. */
export function isOfAnotherIssuer({ facts, written }: Written): boolean {
  return facts !== undefined && written !== undefined && written.signedBefore !== facts.issuer;
}

export function asRead(leaf: Written): LeafView {
  const { written: _, ...rest } = leaf;
  return rest;
}

/** What a member said before it fell silent: its disk keeps that, sizes and alarms included. */
type Silent = Extract<Endpoint, { kind: 'unknown' }> & { readonly last?: EndpointStatus };

export function silenced(endpoint: Endpoint, cause: string, tls?: Silent['tls']): Endpoint {
  const last = lastSaid(endpoint);
  const silent: Silent = { kind: 'unknown', cause, ...(last && { last }), ...(tls && { tls }) };
  return silent;
}

export function lastSaid(endpoint: Endpoint): EndpointStatus | undefined {
  return endpoint.kind === 'known' ? endpoint.status : (endpoint as Silent).last;
}
