import { join } from 'node:path';
import type { Access } from '../e2e/support/client.ts';
import type { ConsumerTools } from '../support/cluster/tools.ts';
import type { Consumer } from './consumer.ts';
import { startEtcdctl } from './etcdctl.ts';
import { consumerOf, type Program, startProgram } from './program.ts';

/** Programs with a client library each, and etcdctl. @param directory of all: has the files of the certificates */

export function goClient(binary: string, directory: string, { url, serverName }: Access): Consumer {
  const { host, port } = new URL(url);
  const flags = [`-endpoint=https://${serverName}:${port}`, `-address=${host}`, `-certificates=${directory}`];
  return consumerOf("etcd's Go client", startProgram([binary, ...flags]));
}

/** @param access by an address that is in the certificates of members: there is no DNS, and no other name to be set */
export function traefik(binary: string, directory: string, access: Access): Consumer {
  return consumerOf('Traefik', startLibrary(binary, directory, access));
}

/** @param access as for Traefik */
export function vitess(binary: string, directory: string, access: Access): Consumer {
  return consumerOf('Vitess', startLibrary(binary, directory, access));
}

function startLibrary(binary: string, directory: string, { url }: Access): Program {
  const flags = [`-endpoint=${new URL(url).host}`, `-certificates=${directory}`];
  // What etcd's client tells of a lost connection would be noise beside the program's own words.
  return startProgram([binary, ...flags], { ETCD_CLIENT_DEBUG: 'fatal' });
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
