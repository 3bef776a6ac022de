import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';
import { type Kube, KubeError } from '../../../reconcile/interfaces/kube.ts';

/** What happens around the writes of one invocation, counted from 0. A throw in either place is its death. */
export interface Faults {
  readonly before?: (write: number) => void | Promise<void>;
  readonly after?: (write: number) => void | Promise<void>;
}

export interface InvocationKube extends Kube {
  writes(): number;
  /** Its changes are writes as well. */
  etcd(members: EtcdAdmin): EtcdAdmin;
}

/** The API server as one invocation sees it: it may be frozen at, or killed before or after, any of its writes. */
export function asInvocation(kube: Kube, faults: Faults = {}): InvocationKube {
  let writes = 0;
  let dead = false;

  const reading =
    <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      mourn();
      const answer = await call(...args);
      mourn();
      return answer;
    };
  const writing =
    <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      mourn();
      const write = writes;
      writes += 1;
      await fatal(faults.before, write);
      const answer = await call(...args);
      await fatal(faults.after, write);
      mourn();
      return answer;
    };

  return {
    ...kube,
    list: reading(kube.list) as Kube['list'],
    get: reading(kube.get) as Kube['get'],
    create: writing(kube.create) as Kube['create'],
    update: writing(kube.update) as Kube['update'],
    updateStatus: writing(kube.updateStatus) as Kube['updateStatus'],
    dryRun: reading(kube.dryRun) as Kube['dryRun'],
    apply: writing(kube.apply) as Kube['apply'],
    delete: writing(kube.delete),
    evict: writing(kube.evict),
    writes: () => writes,
    etcd: (members) => ({
      ...members,
      members: reading(members.members),
      status: reading(members.status),
      addLearner: writing(members.addLearner),
      promote: writing(members.promote),
      remove: writing(members.remove),
      moveLeader: writing(members.moveLeader),
      defragment: writing(members.defragment),
      disarm: writing(members.disarm),
      changeAuth: writing(members.changeAuth),
      compact: writing(members.compact),
    }),
  };

  function mourn(): void {
    if (dead) throw new KubeError('this invocation is dead', { class: 'terminal', reason: 'Dead' });
  }

  async function fatal(fault: Faults['before'], write: number): Promise<void> {
    try {
      await fault?.(write);
    } catch (error) {
      dead = true;
      throw error;
    }
  }
}
