import type { Secret } from '../../../manifests/kube-types.ts';
import {
  applicationSecretName,
  authoritySecretName,
  backupSecretName,
  gatewaySecretName,
  reconcilerSecretName,
  userLeaves,
} from '../../../manifests/render/certificate-names.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { type AuthorityFacts, inspectAuthority } from '../../../reconcile/x509/inspect.ts';
import { leafIn, partyOf } from './tls.ts';
import { name, namespace, type World } from './world.ts';

/** Applications, and what a person does to certificates. */

/** An application that reads its certificate and the CAs to trust now, and never again. */
export function rememberClient(world: World, who: string): void {
  world.clients.set(who, partyOf(world.state, secretData(world, applicationSecretName(name))));
}

/** A client with the leaf of one and the trust of another: two files are never read in one moment. */
export function mixClients(world: World, who: string, leafOf: string, trustOf: string): void {
  const [leaf, trust] = [leafOf, trustOf].map((each) => world.clients.get(each));
  if (leaf && trust) world.clients.set(who, { shows: leaf.shows, trusts: trust.trusts });
}

export async function askForRotation(world: World, request: string): Promise<void> {
  const found = world.cluster();
  if (!found) return;
  const noted = { ...found.metadata.annotations, [annotations.rotateCertificates]: request };
  await world.kube.update(resources.clusters, { ...found, metadata: { ...found.metadata, annotations: noted } });
}

export function secretNamed(world: World, wanted: string): Secret | undefined {
  return world.kube.stored<Secret>(resources.secrets).find(({ metadata }) => metadata.name === wanted);
}

export function secretData(world: World, wanted: string): Readonly<Record<string, string>> {
  return secretNamed(world, wanted)?.data ?? {};
}

/** As a person edits it. */
export function writeSecret(world: World, wanted: string, data: Readonly<Record<string, string>>): void {
  const found = secretNamed(world, wanted);
  if (found) world.kube.seed<Secret>(resources.secrets, { ...found, data });
}

export function deleteSecret(world: World, wanted: string): void {
  world.kube.remove(resources.secrets, namespace, wanted);
}

/** The CA that signs now. */
export function authorityOf(world: World, which: 'peer' | 'client'): AuthorityFacts {
  const found = inspectAuthority(secretData(world, authoritySecretName(name, which)));
  if (found.kind !== 'readable') throw new Error(`no ${which} CA: ${found.kind}`);
  return found.authority;
}

/** Flaws of the certificates of a cluster that is at rest: each list is empty when there is none. */
export function restingFlaws(world: World): readonly string[] {
  const flaws: string[] = [];
  const peerNames = world.claims().map(({ metadata }) => metadata.name);
  const { tls, auth } = world.cluster()?.spec ?? {};
  const users = userLeaves(
    name,
    (auth?.users ?? []).map((user) => user.name),
  );
  const expected = [
    [reconcilerSecretName(name), 'client'],
    [applicationSecretName(name), 'client'],
    [backupSecretName(name), 'client'],
    ...(tls?.gatewayClient === 'Enabled' ? [[gatewaySecretName(name), 'client'] as const] : []),
    ...users.map(({ secretName }) => [secretName, 'client'] as const),
    ...peerNames.flatMap((peer) => [[`${peer}-peer-tls`, 'peer'] as const, [`${peer}-server-tls`, 'client'] as const]),
  ] as const;
  for (const [secretName, which] of expected) {
    const leaf = leafIn(world.state, secretData(world, secretName));
    const authority = authorityOf(world, which);
    if (!leaf?.keyMatches) flaws.push(`${secretName} is unusable`);
    else if (leaf.issuer !== authority.subject)
      flaws.push(`${secretName} is of another CA than the one that signs now`);
    else if (leaf.trust.join() !== authority.fingerprint) flaws.push(`${secretName} does not trust that CA alone`);
  }
  for (const { pod, tls } of world.processes.values()) {
    if (!tls) flaws.push(`${pod} speaks plaintext`);
    for (const [port, which] of [[tls?.peer, 'peer'] as const, [tls?.server, 'client'] as const]) {
      const loaded = port?.trusts.map(({ fingerprint }) => fingerprint).join();
      if (loaded !== authorityOf(world, which).fingerprint) flaws.push(`${pod} has not loaded the ${which} CA alone`);
    }
  }
  return flaws;
}
