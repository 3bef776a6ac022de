/** docs/how-to/tls.md: each way to a first cluster with TLS, typed as its reader would. */

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Secret } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { typedIn } from '../support/docs/typed-by.ts';
import { condition, isConverged } from './support/conditions.ts';
import { type Issuer, installCertificates, startIssuer } from './support/issuer.ts';
import { whileTicking } from './support/runbooks/tell.ts';
import { type } from './support/runbooks/typing.ts';
import { scene } from './support/scene.ts';

const page = 'docs/how-to/tls.md';
const typed = typedIn('e2e/tls-ways');

/** Stands in for cert-manager's controller: its own are tried by cert-manager-controllers.test.ts. */
let started: Issuer | undefined;
after(async () => started?.[Symbol.asyncDispose]());
const stage = scene({
  fleet: false,
  furnish: async ({ kube, kubectl, namespace }) => {
    await installCertificates(kubectl);
    started = await startIssuer({ kube, namespace, backdated: 600e3 });
  },
});

describe('TLS three ways, by the page alone', () => {
  for (const [anchor, name, secret] of [
    ['managed', 'kept', 'kept-client-tls'],
    ['by-cert-manager', 'issued', 'issued-client-tls'],
    ['provided-by-you', 'given', 'given-client'],
  ] as const)
    test(`${anchor}: the cluster is whole, its certificates are good, and clients have theirs`, async () => {
      const blocks = [page, `${page}#${anchor}`].flatMap(typed);
      await whileTicking(stage(), () => type(stage(), name, {}, blocks));
      const cluster = await stage().tickUntil(name, isConverged);
      assert.equal(condition(cluster, 'CertificatesReady')?.status, 'True');
      const mounted = await stage().get<Secret>(resources.secrets, secret);
      assert.ok(mounted?.data?.['tls.crt'] && mounted.data['ca.crt'], secret);
    });
});
