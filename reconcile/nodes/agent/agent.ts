import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Node } from '../../../manifests/kube-types.ts';
import { type RebootMethod, systemBus } from '../../../manifests/render/reboot-job.ts';
import { isReason, type Kube, resources } from '../../interfaces/kube.ts';
import { marksOf, withMarks } from '../marks.ts';
import { rebootByLogind } from './dbus.ts';
import { orderIn, type Taken, takenOrder } from './order.ts';

/** The agent that reboots a node: it lives for one reboot, in the one pod of a Job. */

export interface RebootContext {
  readonly kube: Kube;
  /** The node that this pod runs on. */
  readonly node: string;
  /** The UID of the Job that this pod belongs to. */
  readonly job: string;
  /** The grant that the Job was made for, and the boot that it is to end. */
  readonly grant: { readonly id: string; readonly bootID: string };
  readonly signal: AbortSignal;
  readonly reboot: () => Promise<void>;
  /** Until it looks again for an order that has not come yet; `false`: it is out of time. */
  readonly pause: () => Promise<boolean>;
}

/** Kubelets and controllers write to Nodes as well: so often it reads again what it wanted to change. */
const attempts = 5;

/**
 * Reboots the node if its order names this very Job and it is cordoned. The Job is made before its order, so it waits
 * for that while its grant stands. It first takes the order away, by a PUT on the version that was read: an order is
 * carried out once at most, also if this pod starts again after the reboot.
 * @returns a sentence about it
 * @throws {KubeError} when the Node can't be read or written, and the errors of `reboot`
 */
export async function carryOutOrder(context: RebootContext): Promise<string> {
  for (let conflicts = 0; ; ) {
    try {
      const taken = await takeOrder(context);
      if (taken.kind === 'none') return `${taken.why}: nothing is done`;
      if (taken.kind === 'taken') {
        await context.reboot();
        return `node ${context.node} was told to reboot; it runs boot ${context.grant.bootID} until then`;
      }
      if (!(await context.pause())) return `no order came for node ${context.node} in time: nothing is done`;
    } catch (error) {
      conflicts += 1;
      if (!isReason(error, 'Conflict') || conflicts >= attempts) throw error;
    }
  }
}

async function takeOrder(context: RebootContext): Promise<Taken> {
  const { kube, node: name, signal } = context;
  const node = await kube.get<Node>(resources.nodes, undefined, name, { signal });
  if (!node) return { kind: 'none', why: `there is no node ${name}` };
  const bootId = node.status?.nodeInfo?.bootID ?? '';
  const seen = { name, marks: marksOf(node), bootId, unschedulable: node.spec?.unschedulable === true };
  const order = orderIn(seen, context);
  if (order.kind !== 'taken') return order;
  const at = kube.now() ?? new Date();
  const annotations = withMarks(node.metadata.annotations, takenOrder(bootId), { at });
  await kube.update<Node>(resources.nodes, { ...node, metadata: { ...node.metadata, annotations } }, { signal });
  return order;
}

/** SIGRTMIN+5: systemd starts reboot.target (systemd(1)). */
const rebootSignal = 39;

/** How the host of this pod is told. @throws {Error} when it does not take it. */
export async function tellHost(method: RebootMethod): Promise<void> {
  switch (method.kind) {
    case 'DBus':
      return rebootByLogind(systemBus, process.getuid?.() ?? 0);
    case 'Signal':
      process.kill(1, rebootSignal);
      return;
    case 'Command':
      return run(method.command);
  }
}

async function run([program, ...args]: readonly string[]): Promise<void> {
  if (program === undefined) throw new Error('spec.reboot.command is empty');
  const child = spawn(program, args, { stdio: 'inherit' });
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  if (code !== 0) throw new Error(`${program} ended with ${code ?? signal}`);
}

/** @throws {Error} when it is none. */
export function parseMethod(json: string): RebootMethod {
  const found = JSON.parse(json) as Partial<RebootMethod> | null;
  if (found?.kind === 'DBus' || found?.kind === 'Signal') return { kind: found.kind };
  const command: unknown = found?.kind === 'Command' ? found.command : undefined;
  if (Array.isArray(command) && command.every((word) => typeof word === 'string')) return { kind: 'Command', command };
  throw new Error('RATCHET_REBOOT is not a method to reboot by');
}
