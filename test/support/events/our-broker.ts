import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

interface Annotated {
  readonly kind: string;
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}

/** The annotations of the Broker that manifests/knative makes. */
export function ourBroker(): Readonly<Record<string, string>> {
  const file = join(import.meta.dirname, '../../../manifests/knative/events/broker.yaml');
  const documents = parseAllDocuments(readFileSync(file, 'utf8')).map((one) => one.toJS() as Annotated);
  const broker = documents.find(({ kind }) => kind === 'Broker') ?? assert.fail('there is no Broker');
  return broker.metadata.annotations ?? {};
}
