import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { Secret } from '../../../../manifests/kube-types.ts';
import { clusterLeaves, memberLeaves } from '../../../../manifests/render/certificate-names.ts';
import type { PlannedStep } from '../../../../reconcile/cluster/foresee/plan.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../../reconcile/objects/conditions.ts';
import { createAuthority } from '../../../../reconcile/x509/issue.ts';
import { day, leafOf } from '../../../e2e/support/certificates.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

const provided = { peerSecretName: 'my-peer', serverSecretName: 'my-server', clientSecretName: 'my-client' };
const spec = { replicas: 1, tls: { mode: 'Provided', provided } } as const;

async function give(world: World, ...uses: readonly (keyof typeof provided)[]): Promise<void> {
  const validity = { notBefore: new Date(world.now() - day), notAfter: new Date(world.now() + 90 * day) };
  const authority = await createAuthority({ commonName: 'of a person', ...validity });
  const [peer, server] = memberLeaves({ namespace, cluster: 'orders' }, 'orders-0');
  const plans = { peerSecretName: peer, serverSecretName: server, clientSecretName: clusterLeaves('orders')[0] };
  for (const use of uses) {
    const data = await leafOf(plans[use], authority, { validity });
    world.kube.seed(resources.secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: provided[use], namespace },
      data,
    });
  }
}

const lines = (steps: readonly PlannedStep[]) => steps.map(({ action, target = '' }) => `${action} ${target}`);

test('of a birth with Secrets of a person, a plan looks at them before there is a member', async () => {
  const world = createWorld();
  await give(world, 'peerSecretName', 'serverSecretName', 'clientSecretName');
  const { planned, problem } = await world.plan(spec);
  assert.ok(planned, problem);
  await world.apply(spec);
  const reached = await tickUntilConverged(world);
  assert.deepEqual(lines(planned.steps), lines(reached.steps));
  assert.deepEqual([planned.end.kind, planned.end.reason], ['done', reached.reason]);
});

test('of a birth that lacks a Secret of a person, a plan ends with the name of that one', async () => {
  const world = createWorld();
  await give(world, 'peerSecretName', 'clientSecretName');
  const { planned, problem } = await world.plan(spec);
  assert.ok(planned, problem);
  assert.deepEqual([planned.end.kind, planned.end.reason], ['refused', 'CertificateSecretMissing']);
  assert.match(planned.end.message, /my-server/);
});

test('a list that names the certificate of etcd-ratchet is told, and no member gets it', async () => {
  const world = createWorld();
  await give(world, 'peerSecretName', 'serverSecretName', 'clientSecretName');
  await world.apply(spec);
  await tickUntilConverged(world);
  const shown = world.kube.stored<Secret>(resources.secrets).find(({ metadata }) => metadata.name === 'my-client');
  const pem = Buffer.from(shown?.data?.['tls.crt'] ?? '', 'base64');
  const revokedClientSerials = [new X509Certificate(pem).serialNumber];
  await world.apply({ ...spec, tls: { ...spec.tls, revokedClientSerials } });
  const end = await tickUntilConverged(world);
  assert.equal(end.reason, 'CertificateRevoked', end.trail.join('\n'));
  assert.deepEqual(end.steps, []);
  assert.equal(conditionOf(world.cluster()?.status, 'CertificatesReady')?.reason, 'Revoked');
  await world.apply({ ...spec, tls: { ...spec.tls, revokedClientSerials: ['0a'] } });
  const given = await tickUntilConverged(world);
  assert.deepEqual(lines(given.steps), ['apply-shared revocations', 'change-template orders-0']);
});
