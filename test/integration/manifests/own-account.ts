import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { type Component, kustomizationOf } from '../../../manifests/helm/chart.ts';
import { KubeError, type KubeObject, type Resource } from '../../../reconcile/interfaces/kube.ts';
import { type ApiServer, install, startApiServer } from './api-server.ts';

export const account = { namespace: 'etcd-ratchet', name: 'etcd-ratchet' } as const;

/** Applied by kustomize, as a person puts it together. */
export async function applied(api: ApiServer, which: ReturnType<typeof kustomizationOf>, namespace?: string) {
  const directory = await mkdtemp(join(tmpdir(), 'own-account-'));
  const from = (paths: readonly string[]) => paths.map((path) => relative(directory, resolve(install, '..', path)));
  const content = { resources: from(which.resources), components: from(which.components) };
  await writeFile(
    join(directory, 'kustomization.yaml'),
    JSON.stringify({ ...content, ...(namespace && { namespace }) }),
  );
  await api.kubectl(['apply', '-k', directory]);
  await rm(directory, { recursive: true });
}

/** An installation for the whole cluster, a namespace of a tenant, and what somebody can do who has a tick's token. */
export async function startInstallation(on: readonly Component[]) {
  const api = await startApiServer();
  await applied(api, kustomizationOf(false, on));
  await api.kubectl(['create', 'namespace', 'payments']);
  const us = await api.kubeOf(account);
  const signal = AbortSignal.timeout(300_000);
  /** `done`, or how the API server refused it. */
  const tried = (resource: Resource, object: unknown) =>
    answered(us.dryRun(resource, structuredClone(object) as KubeObject, { signal }));
  return { api, us, signal, tried };
}

export async function answered(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'done';
  } catch (error) {
    assert.ok(error instanceof KubeError, String(error));
    return `${error.status} ${error.message}`;
  }
}
