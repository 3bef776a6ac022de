/** What the demo says, in the order in which it happens, with the seconds since the beginning. */
export interface Narrator {
  chapter(title: string): void;
  say(text: string): void;
  /** What a command prints, indented. */
  show(command: string, output: string): void;
  readonly seconds: number;
}

export function createNarrator(): Narrator {
  const started = performance.now();
  const colour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
  const bold = (text: string) => (colour ? `\u001b[1m${text}\u001b[0m` : text);
  const dim = (text: string) => (colour ? `\u001b[2m${text}\u001b[0m` : text);
  const seconds = () => (performance.now() - started) / 1000;
  return {
    get seconds() {
      return seconds();
    },
    chapter(title) {
      console.log(`\n${bold(title)}`);
    },
    say(text) {
      console.log(`${dim(`${seconds().toFixed(1).padStart(5)} s`)}  ${text}`);
    },
    show(command, output) {
      console.log(`\n  ${dim('$')} ${command}`);
      for (const line of output.trimEnd().split('\n')) console.log(`  ${line}`);
    },
  };
}
