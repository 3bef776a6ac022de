import { join } from 'node:path';
import { kustomize } from './binaries/catalogue.ts';
import { ProvisionError } from './binaries/error.ts';
import { type ProvideOptions, provide } from './binaries/provide.ts';
import { sourceOf } from './binaries/source.ts';
import { interruptible, type Missing, pathIn } from './binaries.ts';

/** What pages call, and their kinds, beside what the local cluster runs. */
export interface PageTools {
  readonly kustomize: string;
  /** Directories of Knative's CustomResourceDefinitions, or why there are none. */
  readonly knative: readonly string[] | Missing;
}

/** Carries them into the sandbox, where there is no network to provision with. */
const variable = 'RATCHET_PAGE_TOOLS';

/**
 * Finds or makes them, as `provisionBinaries` does.
 *
 * @throws {ProvisionError}
 */
export async function providePageTools(options: ProvideOptions = {}): Promise<PageTools> {
  const handed = process.env[variable];
  if (handed !== undefined) return JSON.parse(handed) as PageTools;
  const interruption = interruptible(options.signal);
  try {
    const paths = await provide([kustomize], { ...options, signal: interruption.signal });
    return { kustomize: pathIn(paths)(kustomize.name, kustomize.version), knative: await knativeKinds() };
  } finally {
    interruption.end();
  }
}

export function pageToolsEnvironment(tools: PageTools): Record<string, string> {
  return { [variable]: JSON.stringify(tools) };
}

async function knativeKinds(): Promise<readonly string[] | Missing> {
  try {
    const [serving, eventing] = await Promise.all(
      ['knative.dev/serving', 'knative.dev/eventing'].map((goModule) => sourceOf('knative', goModule)),
    );
    return [join(serving ?? '', 'config/core/300-resources'), join(eventing ?? '', 'config/core/resources')];
  } catch (error) {
    if (!(error instanceof ProvisionError)) throw error;
    return { missing: error.message.split('\n', 1)[0] ?? '' };
  }
}
