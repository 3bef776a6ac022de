import { type Kubectl, type Reach, Refusal } from '../../../functions/plugin/command.ts';
import { runPlugin } from '../../../functions/plugin/run.ts';
import type { Terminal } from '../../../functions/plugin/terminal.ts';
import { type Kube, resources } from '../../../reconcile/interfaces/kube.ts';
import type { FakeKube } from '../fakes/kube.ts';

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export const now = new Date('2026-11-23T15:00:00Z');

/** A machine that reaches no member. */
export const unreachable: Reach = {
  etcd: async () => Promise.reject(new Error('no member is to be asked here')),
  wire: async () => undefined,
};

/** A machine without kubectl. */
export const noKubectl: Kubectl = {
  text: async ([verb]) => Promise.reject(new Refusal(`no kubectl ${verb} here`)),
  forward: async ({ pod }) => Promise.reject(new Refusal(`no way to ${pod}`)),
};

/** The API server says who asks. */
function askedBy(username: string, kube: FakeKube): Kube {
  const create: Kube['create'] = async (resource, object, options) =>
    resource.plural === resources.selfReviews.plural
      ? { ...object, status: { userInfo: { username } } }
      : kube.create(resource, object, options);
  return { ...kube, create };
}

/** What `kubectl ratchet` says for these arguments; `terminal` is what differs from a pipe. */
export async function saidOn(
  kube: FakeKube,
  args: readonly string[],
  terminal: Partial<Pick<Terminal, 'stop' | 'ask' | 'colours' | 'clear' | 'isClosed'>> = {},
  {
    namespace = 'payments',
    reach = unreachable,
    username = 'ada',
    kubectl = noKubectl,
  }: {
    readonly namespace?: string;
    readonly reach?: Reach;
    readonly username?: string;
    readonly kubectl?: Kubectl;
  } = {},
): Promise<Said> {
  let [out, err] = ['', ''];
  const code = await runPlugin(
    args,
    {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      colours: false,
      now: () => now,
      stop: new AbortController().signal,
      ...terminal,
    },
    async () => ({ kube: askedBy(username, kube), namespace, reach, kubectl }),
  );
  return { code, out, err };
}
