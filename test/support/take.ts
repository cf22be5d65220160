/** Returns the first `count` messages of a stream and cancels it. Returns fewer if the stream ends earlier. */
export async function take<T>(count: number, stream: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const message of stream) {
    taken.push(message);
    if (taken.length === count) break;
  }
  return taken;
}
