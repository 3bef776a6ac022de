import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '../../../manifests/kube-types.ts';
import {
  type CertManagerCertificate,
  certificateResource,
} from '../../../manifests/render/cert-manager-certificate.ts';
import type { Kube, Resource } from '../../../reconcile/interfaces/kube.ts';
import { type Authority, createAuthority } from '../../../reconcile/x509/issue.ts';
import { certManager } from '../../support/cluster/binaries/catalogue.ts';
import { startDaemon, untilReady } from '../../support/cluster/daemon.ts';
import type { Kubectl } from '../../support/cluster/kubectl.ts';
import type { LocalCluster } from '../../support/cluster/local-cluster.ts';
import type { CertManagerBinary } from '../../support/cluster/tools.ts';
import { kubeconfigOfAccount } from './account-kubeconfig.ts';
import { startApprover, type Verdict } from './approver.ts';
import type { Issuer } from './issuer.ts';
import { conditionOf } from './issuer-answers.ts';
import { begun, renewed } from './renewal.ts';
import { until } from './until.ts';

interface Stage {
  readonly kube: Kube;
  readonly kubectl: Kubectl;
  readonly namespace: string;
  readonly kubeconfig: string;
}

interface IssuerObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const year = 365 * 24 * 3600e3;
/** By name, the kind of each issuer that the scenes of tests know. */
const issuers: Readonly<Record<string, Resource>> = {
  company: { apiVersion: 'cert-manager.io/v1', kind: 'ClusterIssuer', plural: 'clusterissuers' },
  etcd: { apiVersion: 'cert-manager.io/v1', kind: 'Issuer', plural: 'issuers' },
};

/** cert-manager's own CustomResourceDefinitions, as they come with its source. */
export async function installCertManagerKinds(kubectl: Kubectl, { crds }: CertManagerBinary): Promise<void> {
  const kinds = ['certificates', 'certificaterequests', 'issuers', 'clusterissuers'];
  const files = kinds.flatMap((kind) => ['-f', join(crds, `cert-manager.io_${kind}.yaml`)]);
  await kubectl(['apply', '--server-side', ...files]);
  const names = kinds.map((kind) => `crd/${kind}.cert-manager.io`);
  await kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...names]);
}

/** Groups of the kinds that cert-manager's own roles name: none of ours. */
const itsGroups = [
  ...['', 'apiextensions.k8s.io', 'coordination.k8s.io', 'networking.k8s.io', 'gateway.networking.k8s.io'],
  ...['cert-manager.io', 'acme.cert-manager.io'],
];

/** An account that may do no more to our kinds than cert-manager's may. @returns its kubeconfig */
export async function certManagerAccount(cluster: LocalCluster): Promise<string> {
  const account = { namespace: 'cert-manager', name: 'cert-manager' };
  const { namespace, name } = account;
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [{ apiGroups: itsGroups, resources: ['*'], verbs: ['*'] }],
  };
  const { kubectl } = cluster;
  await kubectl(['create', 'namespace', namespace]);
  await kubectl(['-n', namespace, 'create', 'serviceaccount', name]);
  await kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(role) });
  const of = `--serviceaccount=${namespace}:${name}`;
  await kubectl(['create', 'clusterrolebinding', name, `--clusterrole=${name}`, of]);
  return await kubeconfigOfAccount(cluster, account);
}

/** cert-manager's own controllers for the whole cluster, with one CA for each issuer; the test approves requests. */
export async function startCertManager(stage: Stage, binary: CertManagerBinary): Promise<Issuer> {
  const { kube, kubectl, namespace } = stage;
  await using parts = new AsyncDisposableStack();
  await installCertManagerKinds(kubectl, binary);
  const authorities = new Map<string, Authority>();
  for (const name of Object.keys(issuers)) await putAuthority(name);
  const directory = await mkdtemp(join(tmpdir(), 'etcd-ratchet-cert-manager-'));
  parts.defer(() => rm(directory, { recursive: true, force: true }));
  const flags = [`--kubeconfig=${stage.kubeconfig}`, `--cluster-resource-namespace=${namespace}`];
  const daemon = startDaemon(binary.path, flags, join(directory, 'cert-manager.log'));
  parts.defer(() => daemon.stop());
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: issuerObjects(namespace) });
  await untilReady(daemon, async () => (await Promise.all(Object.keys(issuers).map(isReadyIssuer))).every(Boolean));

  const stop = new AbortController();
  let verdictOn: (certificate: string) => Verdict = () => ({ kind: 'approve' });
  const approver = startApprover({ kube, namespace, signal: stop.signal }, (name) => verdictOn(name));
  approver.ended.catch(() => stop.abort());
  parts.defer(async () => {
    stop.abort();
    await approver.ended;
  });

  /** The CA as the issuer has it from now on. */
  async function putAuthority(name: string): Promise<void> {
    const notBefore = new Date(Date.now() - 3600e3);
    const validity = { notBefore, notAfter: new Date(notBefore.getTime() + 10 * year) };
    const made = await createAuthority({ commonName: name, ...validity });
    const data = { 'tls.crt': made.certificate, 'tls.key': made.key };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: `${name}-ca`, namespace }, stringData: data };
    await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { stdin: JSON.stringify(secret) });
    authorities.set(name, made);
  }

  async function isReadyIssuer(name: string): Promise<boolean> {
    const kind = issuers[name];
    const found = kind && (await kube.get<IssuerObject>(kind, kind.kind === 'Issuer' ? namespace : undefined, name));
    return found?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  }

  /**
   * After a refusal it waits for an hour, unless a person asks. Asked at once, it may take the refused request for the
   * new one: then it is asked again.
   */
  async function issuedAfterRefusal(name: string): Promise<void> {
    await until(`Certificate ${namespace}/${name} is issued`, async () => {
      const found = await kube.get<CertManagerCertificate>(certificateResource, namespace, name);
      if (!found) return 'deleted';
      if (conditionOf(found, 'Issuing')?.status === 'False') await begun(kube, namespace, name);
      return conditionOf(found, 'Ready')?.status === 'True';
    });
  }

  const among = (names: readonly string[], name: string) => names.length === 0 || names.includes(name);
  const decide = (by: typeof verdictOn) => {
    verdictOn = by;
    approver.wake();
  };
  const started = parts.move();
  return {
    title: `cert-manager ${certManager.version}`,
    hold: (...names) => decide((name) => ({ kind: among(names, name) ? 'hold' : 'approve' })),
    fail: (message, ...names) =>
      decide((name) => (among(names, name) ? { kind: 'deny', message } : { kind: 'approve' })),
    async resume() {
      decide(() => ({ kind: 'approve' }));
      const { items } = await kube.list<CertManagerCertificate>(certificateResource, { namespace });
      const refused = items.filter((found) => conditionOf(found, 'Issuing')?.status === 'False');
      for (const { metadata } of refused) await issuedAfterRefusal(metadata.name);
    },
    renew: (name) => renewed({ kube, namespace, name, signal: stop.signal, ended: approver.ended }),
    replaceAuthority: putAuthority,
    authority: async (name) => authorities.get(name)?.certificate ?? '',
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

function issuerObjects(namespace: string): string {
  const items = Object.entries(issuers).map(([name, { apiVersion, kind }]) => ({
    apiVersion,
    kind,
    metadata: { name, ...(kind === 'Issuer' && { namespace }) },
    spec: { ca: { secretName: `${name}-ca` } },
  }));
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}
