/**
 * Leases the embedded PostgreSQL in the given folder, prints the URL, and releases the lease when
 * standard input ends. Tests kill this process.
 */
import { acquireEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";

const [dataDir] = process.argv.slice(2);
if (dataDir === undefined) throw new Error("usage: lease-holder.ts <data folder>");
const { url, release } = await acquireEmbeddedPostgres(dataDir, { durable: false });
process.stdout.write(`${url}\n`);
process.stdin.resume().on("end", release);
