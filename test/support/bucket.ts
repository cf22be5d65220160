import { readdir } from "node:fs/promises";
import { join } from "node:path";
import S3rver from "@20minutes/s3rver";
import type { S3Settings } from "../../src/s3/s3-client.ts";
import { ownFolder, whenOver } from "./when-over.ts";

/** Returns the service's settings for a bucket on a local port. */
export function bucketSettings(port: number): S3Settings {
  const url = `http://127.0.0.1:${port}/pictures`;
  return { url, region: "us-east-1", accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
}

/** Starts a local S3 bucket, which stops with the test or its file. */
export async function startBucket(port = 0) {
  const directory = ownFolder("bucket");
  const server = new S3rver({
    address: "127.0.0.1",
    port,
    directory,
    silent: true,
    configureBuckets: [{ name: "pictures" }],
  });
  const { port: taken } = await server.run();
  whenOver(() => server.close());
  const stored = /^(.*)\._S3rver_object$/;
  return {
    settings: bucketSettings(taken),
    /** Returns the sorted keys of the stored objects. */
    async keys() {
      const names = await readdir(join(directory, "pictures"), { recursive: true });
      return names.flatMap((name) => stored.exec(name)?.[1] ?? []).toSorted();
    },
  };
}
