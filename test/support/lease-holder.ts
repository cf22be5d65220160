/**
 * A process that leases the embedded PostgreSQL in the folder it is given: prints the URL, and
 * releases the lease when its input ends. Tests start it to have somebody to kill.
 */
import { acquireEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";

const [dataDir] = process.argv.slice(2);
if (dataDir === undefined) throw new Error("usage: lease-holder.ts <data folder>");
const { url, release } = await acquireEmbeddedPostgres(dataDir, { durable: false });
process.stdout.write(`${url}\n`);
process.stdin.resume().on("end", release);
