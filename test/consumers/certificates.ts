import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Secret } from '../../manifests/kube-types.ts';
import { gatewaySecretName } from '../../manifests/render/certificate-names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import type { Access } from '../e2e/support/client.ts';
import type { Scene } from '../e2e/support/scene.ts';

/** As kubelet mounts a Secret: each file is whole at every moment. */
export async function putCertificates(directory: string, { credentials }: Access): Promise<void> {
  const { rootCertificate, certChain, privateKey } = credentials ?? {};
  const files = { 'ca.crt': rootCertificate, 'tls.crt': certChain, 'tls.key': privateKey };
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(directory, `${name}.new`), content ?? '', { mode: 0o600 });
    await rename(join(directory, `${name}.new`), join(directory, name));
  }
}

/** As it is written down now, for clients of etcd's HTTP gateway. */
export async function gatewayAccess({ accessNow, get }: Scene, name: string): Promise<Access> {
  const [access, secret] = await Promise.all([
    accessNow(name),
    get<Secret>(resources.secrets, gatewaySecretName(name)),
  ]);
  const data = (key: string) => Buffer.from(secret?.data?.[key] ?? assert.fail(`its Secret has no ${key}`), 'base64');
  const credentials = { rootCertificate: data('ca.crt'), certChain: data('tls.crt'), privateKey: data('tls.key') };
  return { ...access, credentials };
}
