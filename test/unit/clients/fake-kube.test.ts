import { createFakeKube } from '../../support/fakes/kube.ts';
import { gizmos, kubeContract, nobody } from '../../support/fakes/kube-contract.ts';

kubeContract('the fake', async () => ({
  kube: createFakeKube({
    authorize: ({ user }) => user?.endsWith(`:${nobody}`) !== true,
    serves: ({ plural }) => plural !== gizmos.plural,
  }),
  namespace: 'contract',
}));
