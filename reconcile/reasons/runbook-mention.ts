/** A message with the page where a person reads more. */
export function mentioning(message: string, page: string): string {
  return `${message} (runbook: ${page})`;
}

/** For where there is room for one line only: half a link leads nowhere. */
export function withoutMentions(message: string): string {
  return message.replaceAll(/ \(runbook: [^\s)]+\)/g, '');
}
