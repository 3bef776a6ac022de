import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export const sampleDirectory = join(import.meta.dirname, '../../../manifests/samples');

/** By their files. */
export const samples: ReadonlyMap<string, unknown> = new Map(
  globSync('**/*.yaml', { cwd: sampleDirectory }).map((file) => [
    file,
    parse(readFileSync(join(sampleDirectory, file), 'utf8')),
  ]),
);
