import { connect, constants } from "node:http2";
import { expect, test } from "vitest";
import { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import { createDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { frame } from "../../support/raw-grpc.ts";
import { startServiceProcess } from "../../support/service-process.ts";
import { startReplica } from "../../support/service.ts";

const STREAMS = 300;

test("callers that leave while their stream is answered are no defect of the service", async () => {
  const database = await createDatabase();
  const replica = await startReplica(database.url);
  const { apiKey } = await replica.addWorkspace();
  const service = await startServiceProcess({ DATABASE_URL: database.url });
  await service.untilReady();
  const session = connect(service.grpcUrl);
  const watch = `${EventService.typeName}/${EventService.method.watchEvents.name}`;
  for (let i = 0; i < STREAMS; i++) {
    const stream = session.request({
      ":method": "POST",
      ":path": `/${watch}`,
      "content-type": "application/grpc",
      te: "trailers",
      "x-api-key": apiKey,
    });
    stream.on("error", () => undefined);
    stream.end(frame(new Uint8Array()));
    await new Promise((resolve) => setTimeout(resolve, i % 20));
    stream.close(constants.NGHTTP2_CANCEL);
  }
  session.destroy();
  const watched = await eventually("a line for every stream", () => {
    const lines = service.log().filter(({ method: name }) => name === watch);
    return lines.length === STREAMS && lines;
  });
  await replica.close();
  await database.drop();
  expect(new Set(watched.map(({ code }) => code))).toEqual(new Set(["canceled"]));
  expect(service.log().filter(({ msg }) => msg === "defect")).toEqual([]);
});
