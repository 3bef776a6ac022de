import type { EtcdNodePolicy } from '../../../manifests/api/etcd-node-policy.ts';
import type { Node } from '../../../manifests/kube-types.ts';
import { moved } from '../../cluster/know/outcome.ts';
import { resources } from '../../interfaces/kube.ts';
import { changedNode, changedObject, type NodeChange } from '../change-node.ts';
import { type Marks, marksOf, needOf } from '../marks.ts';
import { defineNodeRequest, writtenSince } from './request.ts';

/** The policy's status is the lock: of two invocations that saw the same, one gets a 409. Answers what was written. */
export const writePolicy = defineNodeRequest<'writePolicy', { readonly policy: EtcdNodePolicy }, EtcdNodePolicy>(
  'writePolicy',
  {
    words: () => "writes the policy's grants",
    writes: () => ({ object: 'policy', fence: 'version' }),
    live: ({ policy }, { kube, signal }) =>
      kube.updateStatus<EtcdNodePolicy>(resources.nodePolicies, policy, { signal }),
    model: (state, { policy }, host) => {
      if (!host.isCurrent('policy')) throw writtenSince('policy');
      return { state: host.withPolicy(state, policy), answer: policy };
    },
  },
);

/** One PUT, fenced by the version that was observed. */
export const writeNode = defineNodeRequest<
  'writeNode',
  { readonly name: string; readonly change: NodeChange },
  undefined
>('writeNode', {
  words: ({ name }) => `writes Node ${name}`,
  writes: ({ name }) => ({ object: name, fence: 'version' }),
  live: async ({ name, change }, { kube, observed, signal }) => {
    const node = observed.nodes.get(name);
    if (!node) throw moved(`Node ${name} is gone`);
    await kube.update<Node>(resources.nodes, changedObject(node, change, observed.seen.at), { signal });
    return undefined;
  },
  model: (state, { name, change }, host) => {
    if (!host.isCurrent(name)) throw writtenSince(name);
    const node = host.node(state, name);
    if (!node) throw moved(`Node ${name} is gone`);
    return { state: host.withNode(state, changedNode(node, change, host.at(state))), answer: undefined };
  },
});

export interface NodeRead {
  readonly marks: Marks;
  readonly unschedulable: boolean;
  /** Absent: the wish for a reboot was taken away. */
  readonly needed?: string;
}

export const readNode = defineNodeRequest<'readNode', { readonly name: string }, NodeRead | undefined>('readNode', {
  words: ({ name }) => `reads Node ${name} again`,
  live: async ({ name }, { kube, signal }) => {
    const node = await kube.get<Node>(resources.nodes, undefined, name, { signal });
    return (
      node && readOf({ marks: marksOf(node), unschedulable: node.spec?.unschedulable === true, needed: needOf(node) })
    );
  },
  model: (state, { name }, host) => {
    const node = host.node(state, name);
    return { state, answer: node && readOf({ ...node, needed: node.needed }) };
  },
});

function readOf({
  marks,
  unschedulable,
  needed,
}: Omit<NodeRead, 'needed'> & { readonly needed: string | undefined }): NodeRead {
  return { marks, unschedulable, ...(needed !== undefined && { needed }) };
}
