import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const checkout = join(import.meta.dirname, '../../..');

/** The text of a file; `undefined`: there is none. */
export function inCheckout(file: string): string | undefined {
  const path = join(checkout, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
