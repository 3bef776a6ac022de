/** A binary cannot be had. The message ends with what a person can do. */
export class ProvisionError extends Error {
  override readonly name = 'ProvisionError';

  constructor(message: string, cure: string, cause?: unknown) {
    super(`${message}: ${cure}`, { cause });
  }
}
