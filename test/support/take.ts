/** Returns the first `count` messages of a stream, which is then cancelled. Fewer if it ends earlier. */
export async function take<T>(count: number, stream: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const message of stream) {
    taken.push(message);
    if (taken.length === count) break;
  }
  return taken;
}
