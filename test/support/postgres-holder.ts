/**
 * A process that holds the embedded PostgreSQL in the folder it is given: prints the URL, and
 * releases when its input ends. Tests start it to have somebody to kill.
 */
import { holdEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";

const [dataDir] = process.argv.slice(2);
if (dataDir === undefined) throw new Error("usage: postgres-holder.ts <data folder>");
const { url, release } = await holdEmbeddedPostgres(dataDir, { durable: false });
process.stdout.write(`${url}\n`);
process.stdin.resume().on("end", release);
