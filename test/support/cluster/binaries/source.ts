import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { goNeeded, ProvisionError } from './error.ts';

/**
 * The directory of a Go module's source, as a module below `binaries/` pins it; fetched if it is not there.
 *
 * @throws {ProvisionError} when there is no Go, or the module can't be had
 */
export async function sourceOf(pinnedBy: string, goModule: string): Promise<string> {
  const cwd = resolve(import.meta.dirname, pinnedBy);
  const env = { ...process.env, GOWORK: 'off' };
  try {
    const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', goModule], {
      cwd,
      env,
      timeout: 300_000,
    });
    return (JSON.parse(stdout) as { readonly Dir: string }).Dir;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new ProvisionError(`the source of ${goModule} can't be had (${said})`, `install ${goNeeded}`);
  }
}
