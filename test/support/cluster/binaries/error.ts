/** A binary cannot be had. The message ends with what a person can do. */
export class ProvisionError extends Error {
  override readonly name = 'ProvisionError';

  constructor(message: string, cure: string, cause?: unknown) {
    super(`${message}: ${cure}`, { cause });
  }
}

/** What the newest of the modules below `binaries/` asks for (`vitess/go.mod`). */
export const goNeeded = 'Go 1.26.8 or newer';
