import { createReadStream } from 'node:fs';
import { parseFile } from '../../gitops/specs/parse.ts';
import { formatProblem } from '../../gitops/specs/problem.ts';
import { findSpecs } from '../../gitops/specs/specs.ts';
import { withDefaults } from '../../manifests/api/defaults.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { validateDocument } from '../../manifests/api/validate.ts';
import { Refusal } from './command.ts';

/** Bytes: as much as a repository's file may have. */
const largest = 1024 * 1024;

/**
 * The EtcdCluster of that name in a YAML file (`-`: of stdin), validated as a fleet does, with the API's defaults.
 * @throws {Refusal} when the file can't be read, is too large, is not valid, or names no such cluster.
 */
export async function clusterInFile(
  file: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<EtcdCluster> {
  const { documents, problems: broken } = await parseFile(file, await bytesOf(file));
  const options = { validate: validateDocument, defaultNamespace: namespace };
  const { specs, problems } = await findSpecs({ documents, problems: broken, readWhole: true }, options);
  const [first, ...more] = problems;
  if (first) throw new Refusal(`${formatProblem(first)}${more.length > 0 ? ` (and ${more.length} more)` : ''}`);
  const clusters = specs.filter(({ kind }) => kind === 'EtcdCluster');
  const found = clusters.find((spec) => spec.namespace === namespace && spec.name === name);
  if (!found) {
    const names = clusters.map((spec) => `${spec.namespace}/${spec.name}`).join(', ');
    throw new Refusal(`${file} has no EtcdCluster ${namespace}/${name}; it has: ${names || 'none'}`);
  }
  // `findSpecs` has validated it.
  const object = found.object as unknown as EtcdCluster;
  return withDefaults({ ...object, metadata: { ...object.metadata, namespace } });
}

async function bytesOf(file: string): Promise<Uint8Array> {
  if (file === '-') return bounded(process.stdin, 'stdin');
  return bounded(createReadStream(file, { end: largest }), file);
}

async function bounded(source: AsyncIterable<unknown>, file: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of source) {
      const bytes = chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk));
      size += bytes.length;
      if (size > largest) throw new Refusal(`${file} is larger than ${largest} bytes`);
      chunks.push(bytes);
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Refusal(`${file} can't be read: ${code ?? message}`);
  }
  return Buffer.concat(chunks);
}
