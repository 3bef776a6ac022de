import { isDeepStrictEqual } from 'node:util';
import { definitions } from '../../../manifests/api/kinds.ts';
import { crdOf } from '../../../manifests/install/crd.ts';
import { isRecord } from '../../../manifests/json.ts';
import { type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import type { Asked } from '../command.ts';
import { rightsLacking } from './rights.ts';

/** What one line says: all is there, what is to be done, or that it can't be seen with this person's rights. */
export interface Found {
  readonly verdict: 'ok' | 'do' | 'unknown';
  readonly text: string;
}

export interface Question {
  readonly asked: Asked;
  /** Where etcd-ratchet is to be installed. */
  readonly namespace: string;
  /** Of paths of the API server that each one has, and that list what it serves. */
  readonly raw: (path: string) => Promise<string>;
}

const oldest = 33;
/** Seconds. The Date header has whole ones. */
const mostSkew = 5;

export async function kubernetesVersion({ raw }: Question): Promise<Found> {
  const { major = '', minor = '', gitVersion = '' } = recordIn(await raw('/version'));
  const is = `Kubernetes ${gitVersion}`;
  if (major === '1' && Number.parseInt(String(minor), 10) >= oldest) return ok(is);
  return todo(`${is}: upgrade it to 1.${oldest} or newer`);
}

export async function clock({ asked }: Question): Promise<Found> {
  const theirs = asked.kube.now();
  if (!theirs) return unknown('the API server told no time');
  const skew = Math.round((theirs.getTime() - asked.now().getTime()) / 1000);
  if (Math.abs(skew) <= mostSkew) return ok('this clock and that of the API server agree');
  const which = skew > 0 ? 'ahead of' : 'behind';
  return todo(
    `the clock of the API server is ${Math.abs(skew)} s ${which} this one: set both by NTP, because certificates and leases are judged by them`,
  );
}

export async function admissionPolicies({ raw }: Question): Promise<Found> {
  const group = 'admissionregistration.k8s.io';
  const { resources: served } = (await isServed(raw, group)) ? recordIn(await raw(`/apis/${group}/v1`)) : {};
  if (recordsOf(served).some(({ name }) => name === 'validatingadmissionpolicies'))
    return ok('ValidatingAdmissionPolicy is served');
  return todo(
    'ValidatingAdmissionPolicy is not served: approvals would not be held to those who may approve; turn it on',
  );
}

export async function certManager({ raw }: Question): Promise<Found> {
  if (await isServed(raw, 'cert-manager.io')) return ok('cert-manager.io/v1 is served');
  return todo('cert-manager.io/v1 is not served: install cert-manager, or choose TLS mode Managed or Provided');
}

export async function rights({ asked, namespace }: Question): Promise<Found> {
  const lacking = await rightsLacking(asked, namespace);
  if (lacking.length === 0) return ok('you may install it');
  const few = lacking.slice(0, 6).join(', ');
  return todo(
    `you may not ${few}${lacking.length > 6 ? ', …' : ''}: have a cluster administrator install it, or install it for one namespace`,
  );
}

interface Crd extends KubeObject {
  readonly spec: { readonly versions: readonly { readonly name: string; readonly schema?: unknown }[] };
}

export async function definitionsOfOurs({ asked: { kube, stop } }: Question): Promise<Found> {
  const { customResourceDefinitions: crds } = resources;
  const others: string[] = [];
  let there = 0;
  for (const definition of Object.values(definitions)) {
    const ours = crdOf(definition) as Crd;
    const live = await kube.get<Crd>(crds, undefined, ours.metadata.name, { signal: stop });
    if (live) there += 1;
    if (live && !isDeepStrictEqual(schemasOf(live), schemasOf(ours))) others.push(definition.plural);
  }
  if (others.length > 0)
    return todo(
      `the CRDs ${others.join(', ')} are of another version: kubectl apply --server-side -k manifests/install/crds; where etcd-ratchet runs already, read the release notes first`,
    );
  return ok(there === 0 ? 'no CRD of etcd-ratchet is there yet' : 'the CRDs that are there are those of this release');
}

function schemasOf({ spec }: Crd): unknown {
  return JSON.parse(JSON.stringify(spec.versions.map(({ name, schema }) => ({ name, schema }))));
}

const storageClasses: Resource = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  clusterScoped: true,
};

interface StorageClass extends KubeObject {
  readonly allowVolumeExpansion?: boolean;
}

export async function storage({ asked: { kube, stop } }: Question): Promise<Found> {
  const { items } = await kube.list<StorageClass>(storageClasses, { signal: stop });
  const standard = items.filter(
    ({ metadata }) => metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true',
  );
  const [first] = standard.toSorted((a, b) => created(b) - created(a));
  if (!first)
    return todo(
      'there is no default StorageClass: make one the default, or set spec.storage.storageClassName everywhere',
    );
  const { name } = first.metadata;
  if (first.allowVolumeExpansion) return ok(`default StorageClass ${name} lets volumes grow`);
  return todo(
    `default StorageClass ${name} lets no volume grow: kubectl patch storageclass ${name} -p '{"allowVolumeExpansion":true}', if its driver can`,
  );
}

function created({ metadata }: KubeObject): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}

export async function podSecurity({ asked: { kube, stop }, namespace }: Question): Promise<Found> {
  const found = await kube.get<KubeObject>(resources.namespaces, undefined, namespace, { signal: stop });
  if (!found) return ok(`namespace ${namespace} is made with the installation, as restricted`);
  if (found.metadata.deletionTimestamp) return todo(`namespace ${namespace} is being deleted: wait until it is gone`);
  const level = found.metadata.labels?.['pod-security.kubernetes.io/enforce'];
  if (level === 'restricted') return ok(`namespace ${namespace} enforces Pod Security restricted`);
  return todo(
    `namespace ${namespace} enforces Pod Security ${level ?? 'of no level'}: kubectl label --overwrite namespace ${namespace} pod-security.kubernetes.io/enforce=restricted`,
  );
}

/** Whether the API server serves version v1 of the group. */
async function isServed(raw: Question['raw'], group: string): Promise<boolean> {
  const found = recordsOf(recordIn(await raw('/apis')).groups).find(({ name }) => name === group);
  return recordsOf(found?.versions).some(({ version }) => version === 'v1');
}

function recordIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function recordsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function ok(text: string): Found {
  return { verdict: 'ok', text };
}

function todo(text: string): Found {
  return { verdict: 'do', text };
}

function unknown(text: string): Found {
  return { verdict: 'unknown', text };
}
