import { InvalidArgumentError } from 'commander';
import { shortNames } from '../../manifests/api/group.ts';
import type { KubeObject, Resource } from '../../reconcile/interfaces/kube.ts';
import { kubernetesName } from './arguments.ts';
import type { Asked } from './command.ts';
import { type KindSeen, kindWords } from './kinds/words.ts';
import { objectNamed } from './objects.ts';

/** What a person asks about: `orders`, or `fleet/production`. */
export interface Subject {
  readonly kind: KindSeen;
  readonly name: string;
}

const kindsSeen = Object.keys(kindWords) as readonly KindSeen[];

/** @throws {InvalidArgumentError} */
export function subjectIn(text: string): Subject {
  const [before = '', after, ...more] = text.split('/');
  if (after === undefined) return { kind: 'EtcdCluster', name: kubernetesName(before) };
  const kind = kindCalled(before);
  if (kind !== undefined && more.length === 0) return { kind, name: kubernetesName(after) };
  throw new InvalidArgumentError(`the name of a cluster, or one like fleet/production: ${wordsOfKinds().join(', ')}`);
}

/** As a person types it: `fleet`, `fleets`, `etcdfleet`, `EtcdFleet`, `ef`. */
function kindCalled(text: string): KindSeen | undefined {
  const typed = text.toLowerCase();
  return kindsSeen.find((kind) => {
    const { resource, word } = kindWords[kind];
    return [word, `${word}s`, kind.toLowerCase(), resource.plural, ...shortNames[kind]].includes(typed);
  });
}

export function wordsOfKinds(): readonly string[] {
  return kindsSeen.map((kind) => kindWords[kind].word);
}

/** `EtcdFleet etcd-ratchet/production`; a cluster is called as everywhere. */
export function calledSubject({ kind, name }: Subject, { namespace }: Pick<Asked, 'namespace'>): string {
  if (kindWords[kind].resource.clusterScoped) return `${kind} ${name}`;
  return kind === 'EtcdCluster' ? `${namespace}/${name}` : `${kind} ${namespace}/${name}`;
}

/** @throws {Refusal} when there is none of that name, naming those that there are. */
export function objectOf({ kind, name }: Subject, asked: Asked): Promise<KubeObject> {
  return objectNamed(kindWords[kind].resource, name, asked);
}

/** `undefined` of no kind that is known. */
export function resourceCalled(text: string): Resource | undefined {
  const kind = kindCalled(text);
  return kind && kindWords[kind].resource;
}
