import { type Kube, type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';

export interface Asked {
  /** `PUT etcdclusters shop/orders` */
  readonly what: string;
  /** What was sent with it. */
  readonly body?: string;
}

interface Waiting extends Asked {
  readonly go: () => void;
}

export interface Orderly {
  readonly kube: Kube;
  /** Whether a request waits for its turn. */
  isBusy(): boolean;
}

/**
 * An API server that answers by turns of the event loop: all requests of a turn are told together, in the order of
 * their names. So what is asked side by side leaves one trace, however many promises lie between two requests.
 */
export function orderly(kube: Kube, tell: (turn: readonly Asked[]) => void): Orderly {
  let waiting: Waiting[] = [];

  function asked(what: string, body = ''): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ what, body, go: resolve });
    if (waiting.length === 1) setImmediate(answer);
    return promise;
  }

  function answer(): void {
    const now = waiting.toSorted((a, b) => (`${a.what} ${a.body}` < `${b.what} ${b.body}` ? -1 : 1));
    waiting = [];
    tell(now);
    for (const { go } of now) go();
  }

  const reading =
    <R>(verb: string, call: (resource: Resource, ...rest: readonly never[]) => Promise<R>) =>
    async (resource: Resource, ...rest: readonly never[]): Promise<R> => {
      const [first, second] = rest as readonly unknown[];
      const name = verb === 'GET' || verb === 'DELETE' ? ` ${first}/${second}` : ` ${selected(first)}`;
      await asked(`${verb} ${resource.plural}${name}`);
      return call(resource, ...rest);
    };
  const writing =
    <R>(verb: string, call: (resource: Resource, object: KubeObject, ...rest: readonly never[]) => Promise<R>) =>
    async (resource: Resource, object: KubeObject, ...rest: readonly never[]): Promise<R> => {
      const { namespace = '', name } = object.metadata;
      const about = resource === resources.events ? '' : ` ${namespace}/${name}`;
      await asked(`${verb} ${resource.plural}${about}`, bodyOf(resource, object));
      return call(resource, object, ...rest);
    };

  return {
    kube: {
      ...kube,
      list: reading('LIST', kube.list as never) as Kube['list'],
      get: reading('GET', kube.get as never) as Kube['get'],
      delete: reading('DELETE', kube.delete as never) as Kube['delete'],
      create: writing('POST', kube.create as never) as Kube['create'],
      update: writing('PUT', kube.update as never) as Kube['update'],
      updateStatus: writing('PUT status', kube.updateStatus as never) as Kube['updateStatus'],
      apply: writing('APPLY', kube.apply as never) as Kube['apply'],
      evict: async (...all) => {
        await asked(`EVICT ${all[0]}/${all[1]}`);
        return kube.evict(...all);
      },
    },
    isBusy: () => waiting.length > 0,
  };
}

function selected(options: unknown): string {
  const { namespace, labelSelector, fieldSelector } = (options ?? {}) as Partial<Record<string, string>>;
  return [namespace ?? '*', labelSelector, fieldSelector].filter((part) => part !== undefined).join(' ');
}

/** The body that is written, but for versions. The names of events are drawn at random. */
function bodyOf(resource: Resource, object: KubeObject): string {
  const {
    resourceVersion: _,
    managedFields: __,
    ...metadata
  } = object.metadata as KubeObject['metadata'] & {
    readonly managedFields?: unknown;
  };
  if (resource !== resources.events) return JSON.stringify({ ...object, metadata });
  return JSON.stringify({ ...object, metadata: { namespace: metadata.namespace } });
}
