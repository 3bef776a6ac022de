import { jsonIn } from '../../../manifests/json.ts';
import { labels } from '../../../manifests/render/names.ts';
import { followUpType } from '../../pass/follow-up/sink.ts';
import { type Change, changeOf } from './change.ts';
import { objectFrom } from './object.ts';

export type Wish =
  /** A clock's event: a tick over everything. */
  | { readonly kind: 'tick' }
  /** Something of this cluster changed. */
  | { readonly kind: 'step'; readonly cluster: string; readonly change?: Change }
  /** What a pass left: wait for it, and go on. No cluster named: with all. */
  | { readonly kind: 'follow-up'; readonly clusters: readonly string[]; readonly again?: number }
  /** `forget`: this object is not any more what it was last stepped for; when it is again, that is news. */
  | { readonly kind: 'nothing'; readonly because: string; readonly forget?: string };

interface Event {
  readonly type: string;
  readonly data?: unknown;
}

const fromApiServer = 'dev.knative.apiserver.';

/** A new source of events is a line here. */
export function wishOf({ type, data }: Event): Wish {
  if (type === 'dev.knative.sources.ping') return { kind: 'tick' };
  if (type === followUpType) return followUp(value(data));
  if (type.startsWith(`${fromApiServer}resource.`)) return aboutObject(value(data), type.endsWith('.delete'));
  if (type.startsWith(`${fromApiServer}ref.`)) return aboutReference(value(data));
  return { kind: 'nothing', because: 'events of this type are of no interest' };
}

function followUp(data: unknown): Wish {
  const { clusters, again } = asObject(data);
  if (!Array.isArray(clusters)) return { kind: 'nothing', because: 'it names no clusters' };
  const named = clusters.filter((name): name is string => typeof name === 'string' && isKey(name));
  if (named.length < clusters.length) return { kind: 'nothing', because: 'it names something that is not a cluster' };
  return { kind: 'follow-up', clusters: named, ...(Number(again) > 0 && { again: Number(again) }) };
}

/** Resource mode: the whole object, so that what changes nothing is told from what does. */
function aboutObject(data: unknown, isDeleted: boolean): Wish {
  const object = objectFrom(data);
  if (!object) return { kind: 'nothing', because: 'it holds no object of the API server' };
  const { namespace, name, labels: own } = object.metadata;
  const cluster = object.kind === 'EtcdCluster' ? name : own?.[labels.cluster];
  const key = `${namespace}/${cluster}`;
  if (typeof cluster !== 'string' || !isKey(key)) return { kind: 'nothing', because: 'it belongs to no cluster' };
  if (isDeleted && object.kind === 'EtcdCluster') return { kind: 'nothing', because: 'the cluster is gone' };
  const change = changeOf(object, isDeleted);
  if (change === undefined) return { kind: 'nothing', because: 'nothing changed that a step could depend on' };
  if (change.matter === '')
    return { kind: 'nothing', because: 'it is not at a point that a step waits for', forget: change.uid };
  return { kind: 'step', cluster: key, change };
}

const endings: ReadonlyMap<string, RegExp> = new Map([
  ['EtcdCluster', /^(.+)$/],
  ['EtcdPeer', /^(.+)-\d+$/],
  ['Pod', /^(.+)-\d+-0$/],
]);

/** Reference mode: only a name. Which cluster it belongs to is in the name, too. */
function aboutReference(data: unknown): Wish {
  const { kind, namespace, name } = asObject(data);
  const isNamed = typeof kind === 'string' && typeof namespace === 'string' && typeof name === 'string';
  if (!isNamed) return { kind: 'nothing', because: 'it names no object' };
  const cluster = endings.get(kind)?.exec(name)?.[1];
  const key = `${namespace}/${cluster}`;
  if (cluster === undefined || !isKey(key)) return { kind: 'nothing', because: 'it belongs to no cluster' };
  return { kind: 'step', cluster: key };
}

/** Where an event does not say that its data are JSON, they come as text. */
function value(data: unknown): unknown {
  return typeof data === 'string' ? jsonIn(data) : data;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function isKey(text: string): boolean {
  return /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\/[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/.test(text);
}
