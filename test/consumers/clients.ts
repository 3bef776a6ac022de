import { join } from 'node:path';
import type { Access } from '../e2e/support/client.ts';
import type { ConsumerTools } from '../support/cluster/tools.ts';
import type { Consumer } from './consumer.ts';
import { startEtcdctl } from './etcdctl.ts';
import { consumerOf, startProgram } from './program.ts';

/** Programs with a client library each, and etcdctl. @param directory of all: has the files of the certificates */

export function goClient(binary: string, directory: string, { url, serverName }: Access): Consumer {
  const { host, port } = new URL(url);
  const flags = [`-endpoint=https://${serverName}:${port}`, `-address=${host}`, `-certificates=${directory}`];
  return consumerOf("etcd's Go client", startProgram([binary, ...flags]));
}

export function nodeClient(directory: string, { url, serverName }: Access): Consumer {
  const program = join(import.meta.dirname, 'node-client/main.ts');
  return consumerOf('etcd3 for Node', startProgram([process.execPath, program, url, serverName, directory]));
}

/** Each of its writes is a process. */
export function etcdctl(binary: string, directory: string, access: Access): Consumer {
  return consumerOf('etcdctl', startEtcdctl(binary, directory, access), 5);
}

export function pythonClient({ python }: ConsumerTools, directory: string, { url, serverName }: Access): Consumer {
  const program = join(import.meta.dirname, 'python-client/main.py');
  return consumerOf('etcd3 for Python', startProgram([python, program, serverName, new URL(url).port, directory]));
}
