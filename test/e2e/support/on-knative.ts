import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Kube, type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import type { Kubectl } from '../../support/cluster/kubectl.ts';
import { until } from './until.ts';

/** manifests/knative, as it is, in a cluster where Knative is. */

export const ofKnative = join(import.meta.dirname, '../../../manifests/knative');

const home = 'etcd-ratchet';
const kinds = [
  'services.serving.knative.dev',
  'brokers.eventing.knative.dev',
  'triggers.eventing.knative.dev',
  'apiserversources.sources.knative.dev',
  'pingsources.sources.knative.dev',
  'sinkbindings.sources.knative.dev',
].join();

interface Conditioned extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** @param except `Kind/name` */
export async function allReady(kubectl: Kubectl, within: number, ...except: readonly string[]): Promise<void> {
  let last = '';
  const look = async () => {
    const { items } = JSON.parse(await kubectl(['-n', home, 'get', kinds, '-o', 'json'])) as {
      readonly items: readonly Conditioned[];
    };
    assert.ok(items.length > 0);
    const left = items.filter((one) => !isReady(one)).map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    last = left.join();
    return left.every((name) => except.includes(name));
  };
  await until('all of manifests/knative Ready', look, { within, every: 500, last: () => last });
}

function isReady({ status: { conditions = [] } = {} }: Conditioned): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

/** Longer than Knative waits for requests, and until it takes the last pod away. */
export async function scaledToZero(kube: Kube, service: string): Promise<void> {
  const labelSelector = `serving.knative.dev/service=${service}`;
  const look = async () => {
    const { items } = await kube.list<KubeObject>(resources.pods, { namespace: home, labelSelector });
    return items.every(({ metadata }) => metadata.deletionTimestamp !== undefined);
  };
  await until(`no pod of ${service} stays`, look, { within: 240, every: 500 });
}

/** All that is made of manifests/knative, also by Knative itself. */
export async function allGone(kubectl: Kubectl): Promise<void> {
  let last = '';
  const look = async () => {
    last = (await kubectl(['-n', home, 'get', `${kinds},deployments,services`, '-o', 'name'])).trim();
    return last === '';
  };
  await until('all of manifests/knative gone', look, { within: 150, every: 500, last: () => last });
}

export interface Posted {
  readonly url: string;
  /** What it is told to be, whatever its address is. */
  readonly host: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** As a forge does whose name server knows the host. */
export async function posted({ url, host, headers, body = '' }: Posted): Promise<{ status: number; text: string }> {
  const asked = request(url, { method: 'POST', headers: { ...headers, host }, signal: AbortSignal.timeout(30_000) });
  asked.end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, text: await text(answer) };
}

/** An admission webhook that nothing answers: the API server refuses each new StatefulSet there with a 500. */
export function brokenAdmission(namespace: string): object {
  return {
    ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' },
    metadata: { name: 'broken' },
    webhooks: [
      {
        name: 'broken.example.org',
        clientConfig: { service: { namespace, name: 'nothing' } },
        rules: [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['statefulsets'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        ...{ failurePolicy: 'Fail', sideEffects: 'None', admissionReviewVersions: ['v1'], timeoutSeconds: 1 },
      },
    ],
  };
}
