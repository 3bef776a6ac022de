export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Of Prometheus' text format. @throws at a line that is none of it */
export function samplesIn(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    if (line === '' || line.startsWith('#')) return [];
    const [, name, inBraces = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) throw new Error(`no sample: ${line}`);
    const pairs = inBraces.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
    return [{ name, labels: Object.fromEntries([...pairs].map(([, label, of]) => [label, of])), value: Number(value) }];
  });
}
