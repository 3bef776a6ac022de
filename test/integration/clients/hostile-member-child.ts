import { connectEtcd } from '../../../reconcile/clients/etcd.ts';

/** As many clusters as one pass asks at once, all of them at one hostile member. Prints why each call failed. */
const [url = ''] = process.argv.slice(2);
const etcd = connectEtcd();
const asked = Array.from({ length: 32 }, (_, index) => {
  const signal = AbortSignal.timeout(10_000);
  const options = { signal, clusterId: '1' };
  const questions = [
    () => etcd.members([url], { signal }),
    () => etcd.status(url, { signal }),
    () => etcd.users([url], options),
    () => etcd.rightsOf([url], 'r', options),
  ];
  return questions[index % questions.length]?.();
});
const settled = await Promise.allSettled(asked);
etcd.close();
const said = settled.map((one) => (one.status === 'rejected' ? String(one.reason.message) : 'it was believed'));
process.stdout.write(JSON.stringify(said));
