import type { WatchEventsResponse } from "../../gen/shipments/v1/event_service_pb.js";

/** Yields the messages of an event stream that have an event. */
export async function* withoutHeartbeats(
  stream: AsyncIterable<WatchEventsResponse>,
): AsyncIterable<WatchEventsResponse> {
  for await (const message of stream) {
    if (message.data !== undefined) yield message;
  }
}
