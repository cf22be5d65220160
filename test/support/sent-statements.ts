import { appendFileSync } from "node:fs";
import { inject } from "vitest";
import { DatabaseClient } from "../../src/db/client.ts";

/** Records the statements that this process sends in batches. The run checks them at its end. */
export function recordStatements(): void {
  const sent = new Set<string>();
  const { sendTogether } = DatabaseClient.prototype;
  DatabaseClient.prototype.sendTogether = function (statements) {
    for (const [sql] of statements) {
      if (!sent.has(sql)) appendFileSync(inject("sentStatements"), `${JSON.stringify(sql)}\n`);
      sent.add(sql);
    }
    return sendTogether.call(this, statements);
  };
}
