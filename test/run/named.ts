interface Event {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The events of files that a run has seen before: tests say against which server, and only failures count anew. */
export async function* named(events: AsyncIterable<unknown>, server: string): AsyncGenerator<Event, void> {
  for await (const event of events as AsyncIterable<Event>) {
    const { type, data } = event;
    if (type === 'test:summary' && typeof data.file === 'string' && data.success === true) continue;
    const isOutermost = data.nesting === 0 && typeof data.name === 'string';
    yield isOutermost ? { type, data: { ...data, name: `${data.name} [${server}]` } } : event;
  }
}
