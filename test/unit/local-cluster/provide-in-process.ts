import { etcd } from '../../support/cluster/binaries/catalogue.ts';
import { provide } from '../../support/cluster/binaries/provide.ts';

/** A run of its own, for tests of several at once. Prints the path. */
const paths = await provide([etcd('etcd', '3.6.16')], { downloads: false });
console.log([...paths.values()].join('\n'));
