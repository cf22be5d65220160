import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../gen/grpc/health/v1/health_pb.js";
import { clip } from "../../domain/clip.ts";
import { deadlineError } from "../../pipeline/stages/deadline.ts";
import { connectError } from "./connect-error.ts";
import { isPastDeadline } from "./deadlines.ts";

const WATCH_INTERVAL_MS = 250;
/** Maximum number of characters quoted from an unknown service's name. */
const SHOWN_CHARACTERS = 100;

/**
 * Serves `grpc.health.v1.Health` for the whole server (the empty name) and the given services. The status is SERVING
 * while `isReady`. At shutdown, a watch sends NOT_SERVING and ends. Requires no credential.
 */
export function addHealth(
  router: ConnectRouter,
  serviceNames: readonly string[],
  isReady: () => boolean,
  shutdownSignal: AbortSignal,
): void {
  const names = new Set(["", ...serviceNames]);
  const statusOf = (name: string) => {
    if (!names.has(name)) return Status.SERVICE_UNKNOWN;
    return isReady() ? Status.SERVING : Status.NOT_SERVING;
  };
  router.service(Health, {
    check({ service }) {
      const status = statusOf(service);
      if (status === Status.SERVICE_UNKNOWN) {
        throw new ConnectError(
          `There is no service ${JSON.stringify(clip(service, SHOWN_CHARACTERS))} here.`,
          Code.NotFound,
        );
      }
      return { status };
    },
    async *watch({ service }, context) {
      const signal = AbortSignal.any([context.signal, shutdownSignal]);
      let sent: Status | undefined;
      for (;;) {
        const status = statusOf(service);
        if (status !== sent) yield { status };
        sent = status;
        if (isPastDeadline(signal)) throw connectError(deadlineError());
        // The loop checks the signal after sending, because the last status must be sent at shutdown.
        if (signal.aborted) return;
        await sleep(WATCH_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
      }
    },
  });
}
