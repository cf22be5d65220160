import { spawn } from "node:child_process";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { book } from "../../support/bookings.ts";
import { freePort } from "../../support/free-port.ts";
import { startService } from "../../support/service.ts";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";
import { addWebhook, attemptsAt, untilAttempted } from "../../support/webhooks.ts";

const REPOSITORY = join(import.meta.dirname, "../../..");

test("the documented webhook receiver accepts only signed messages", async () => {
  const service = await startService();
  const { apiKey } = await service.addWorkspace();
  const port = await freePort();
  const { data, secret } = await addWebhook(service, apiKey, { url: `http://127.0.0.1:${port}/` });

  const folder = makeTemporaryFolder("receiver");
  for (const name of ["package.json", "node_modules", "src"]) {
    symlinkSync(join(REPOSITORY, name), join(folder, name));
  }
  const file = join(folder, "receiver.ts");
  writeFileSync(file, receiverOfGuide().replace("3000", String(port)));
  const receiver = spawn(process.execPath, [file], {
    env: { ...process.env, WEBHOOK_SECRET: secret },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
  await lines.next();

  try {
    const forged = await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      body: "{}",
      headers: {
        "webhook-id": "evt_1",
        "webhook-timestamp": String(Math.floor(Date.now() / 1_000)),
        "webhook-signature": "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
      },
    });
    expect(forged.status).toBe(401);

    const { reference } = await book(service, apiKey);
    const delivery = await untilAttempted(service, apiKey, data.id, 1);
    expect(await attemptsAt(service, apiKey, delivery)).toMatchObject([{ status: 204 }]);
    expect((await lines.next()).value).toContain(reference);
  } finally {
    receiver.kill("SIGKILL");
    rmSync(folder, { recursive: true });
    await service.close();
  }
});

function receiverOfGuide(): string {
  const guide = readFileSync(new URL("../../../src/docs/webhooks.md", import.meta.url), "utf8");
  const section = guide.slice(guide.indexOf("## Receivers"));
  return /```ts\n([^]*?)```/.exec(section)![1]!;
}
