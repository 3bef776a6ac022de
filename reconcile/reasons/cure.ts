/** Between what is wrong and its cure, in one sentence for a person. */
export const toGoOn = '. To go on: ';

/** What {@link toldIn} separates. What tells a cure of its own keeps it. */
export function curedBy(message: string, cure: string): string {
  return message.includes(toGoOn) ? message : withCure(message, cure);
}

export function withCure(message: string, cure: string): string {
  return `${message}${toGoOn}${cure}`;
}

/** The problem and its cure, for a failure that needs a person. */
export function toldIn(message: string): { readonly message: string; readonly cure: string } {
  const [what = '', ...cure] = message.split(toGoOn);
  return { message: what, cure: cure.join(toGoOn) || 'correct what the API server refuses there' };
}
