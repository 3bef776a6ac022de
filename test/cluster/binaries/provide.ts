import { cacheDirectory, cached } from './cache.ts';
import { title, type Wanted } from './catalogue.ts';
import { ProvisionError } from './error.ts';
import { findInstalled } from './found.ts';

export interface ProvideOptions {
  readonly environment?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
}

/** Every binary from the first source that has it: installed, cached, downloaded, built. @throws {ProvisionError} */
export async function provide(
  wanted: readonly Wanted[],
  { environment = process.env }: ProvideOptions,
): Promise<ReadonlyMap<Wanted, string>> {
  const directory = cacheDirectory(environment);
  const paths = new Map(await findInstalled(wanted, environment));
  for (const one of wanted) {
    if (paths.has(one)) continue;
    const path = await cached(directory, one);
    if (path === undefined) throw new ProvisionError(`${title(one)} is not there`, 'provide it');
    paths.set(one, path);
  }
  return paths;
}
