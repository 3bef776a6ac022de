import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import { clusterLeaves, memberLeaves } from '../../../../manifests/render/certificate-names.ts';
import { leafOf, newAuthority, putSecret } from '../certificates.ts';
import { condition, isConverged } from '../conditions.ts';
import { push, type Story } from './story.ts';

/** Of docs/runbooks/certificates.md. */

const served = (cluster: EtcdCluster) =>
  isConverged(cluster) && condition(cluster, 'CertificatesReady')?.status === 'True';

export const ofCertificates: readonly Story[] = [
  {
    title: 'a Secret that a person provides is missing',
    page: 'certificates.md',
    sections: ['a-secret-that-you-provide'],
    reason: 'CertificateSecretMissing',
    name: 'provided',
    async happen(scene, name) {
      const [peerSecretName, serverSecretName, clientSecretName] = ['peer', 'server', 'client'].map(
        (use) => `${name}-my-${use}`,
      );
      await push(scene, name, {
        tls: { mode: 'Provided', provided: { peerSecretName, serverSecretName, clientSecretName } },
      });
      return { SECRET: `${name}-my-client` };
    },
    async correct(scene, name) {
      const authority = await newAuthority('platform root');
      const [peer, server] = memberLeaves({ namespace: scene.namespace, cluster: name }, `${name}-0`);
      const plans = { peer, server, client: clusterLeaves(name)[0] };
      for (const [use, plan] of Object.entries(plans))
        await putSecret(scene, `${name}-my-${use}`, await leafOf(plan, authority));
    },
    over: served,
  },
];
