import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments, type YAMLSeq } from 'yaml';
import { publishedImage } from '../../../manifests/release.ts';
import type { Kubectl } from '../cluster/kubectl.ts';
import type { Knative } from '../cluster/tools.ts';

/** The class of Ingress that the gateway of these tests serves. */
const ingressClass = 'gateway.ingress.networking.knative.dev';

const systems = ['knative-serving', 'knative-eventing'] as const;

/**
 * Knative Serving and Eventing with the in-memory channel, as the manifests in their source are. Changed: images are
 * named as the node knows them, the Ingress' class, the patience of probes, and that digests of our image are not
 * asked for.
 *
 * Nothing autoscales the system itself: there is no metrics server.
 */
export async function installKnative(kubectl: Kubectl, { sources }: Knative): Promise<void> {
  const { serving, eventing, networking, caching } = sources;
  const apply = async (files: readonly string[]) => {
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
    await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { stdin: adapted(texts) });
  };
  const below = (source: string, ...patterns: readonly string[]) =>
    patterns.flatMap((pattern) => globSync(pattern, { cwd: source }).toSorted()).map((file) => join(source, file));

  await apply([
    ...below(serving, 'config/core/300-resources/*.yaml'),
    ...below(networking, 'config/{certificate,domain-claim,ingress,serverlessservice}.yaml'),
    ...below(caching, 'config/image.yaml'),
    ...below(eventing, 'config/core/resources/*.yaml', 'config/channels/in-memory-channel/resources/*.yaml'),
  ]);
  await kubectl(['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all']);
  const [channel, broker] = ['config/channels/in-memory-channel', 'config/brokers/mt-channel-broker'];
  await apply([
    ...below(serving, 'config/core/1*.yaml', 'config/core/2*.yaml', 'config/core/200-roles/*.yaml'),
    ...below(serving, 'config/core/configmaps/*.yaml'),
    ...below(networking, 'config/config-network.yaml'),
    ...below(eventing, 'config/core/1*.yaml', 'config/core/2*.yaml', 'config/core/{roles,configmaps}/*.yaml'),
    ...below(eventing, 'third_party/eventing-integrations-latest/*images.yaml'),
    ...below(eventing, `${channel}/2*.yaml`, `${channel}/{roles,configmaps}/*.yaml`, `${broker}/roles/*.yaml`),
  ]);
  const set = (name: string, data: Readonly<Record<string, string>>) =>
    kubectl(['-n', 'knative-serving', 'patch', 'configmap', name, '--type=merge', '-p', JSON.stringify({ data })]);
  await set('config-network', { 'ingress-class': ingressClass });
  await set('config-deployment', { 'registries-skipping-tag-resolving': publishedImage.split('/', 1)[0] ?? '' });
  await apply([
    ...below(serving, 'config/core/deployments/{activator,autoscaler,controller,webhook}.yaml'),
    ...below(serving, 'config/core/webhooks/*.yaml'),
    ...below(eventing, 'config/core/deployments/{controller,pingsource-mt-adapter,webhook}.yaml'),
    ...below(eventing, 'config/core/webhooks/*.yaml', `${channel}/{deployments,webhooks}/*.yaml`),
    ...below(eventing, `${broker}/deployments/{broker-filter,broker-ingress,controller}.yaml`),
  ]);
  for (const namespace of systems)
    await kubectl(['-n', namespace, 'wait', '--for=condition=Available', '--timeout=180s', 'deployment', '--all'], {
      timeoutMilliseconds: 200_000,
    });
}

/**
 * Images are named by the Go package of their program, for a tool that builds them. Probes wait for as long as busy
 * processors may take: with one second, Knative's own pods are started again and again.
 */
function adapted(texts: readonly string[]): string {
  const documents = texts.flatMap((text) => parseAllDocuments(text.replaceAll('ko://', '')));
  for (const document of documents) {
    if (document.get('kind') !== 'Deployment') continue;
    const containers = ['spec', 'template', 'spec', 'containers'];
    const { items = [] } = document.getIn(containers) as YAMLSeq;
    for (const [index] of items.entries())
      for (const probe of ['readinessProbe', 'livenessProbe'])
        if (document.hasIn([...containers, index, probe]))
          document.setIn([...containers, index, probe, 'timeoutSeconds'], 10);
  }
  return documents.map((document) => JSON.stringify(document)).join('\n---\n');
}
