import { expect, test } from "vitest";
import { createDatabase } from "./support/database.ts";
import { startByNpm } from "./support/npm.ts";

test.each(["SIGTERM", "SIGINT"] as const)("%s sent only to npm start stops the service and npm", async (signal) => {
  const database = await createDatabase();
  const env = { ...process.env, DATABASE_URL: database.url, PORT: "0", GRPC_PORT: "0" };
  const service = await startByNpm(["npm", "start"], { env });
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);

  await service.stop(signal);
  await expect(fetch(`${service.url}/healthz`)).rejects.toThrow("fetch failed");
});
