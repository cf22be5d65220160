import { loadOnce } from "../domain/load-once.ts";

export interface S3Settings {
  /** Base URL of objects: the bucket's own host, or a host with the bucket in the path. */
  readonly url: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Timeout of a request in milliseconds, enough for 5 MiB. */
const TIMEOUT_MS = 20_000;

/**
 * Creates the client of an S3-compatible bucket. It loads its library on first use. It neither retries
 * nor follows redirects, and rejects if a request fails.
 */
export function createS3Client({ url, ...credentials }: S3Settings) {
  const client = loadOnce(async () => {
    const { AwsClient } = await import("aws4fetch");
    return new AwsClient({ ...credentials, service: "s3", retries: 0 });
  });

  async function send(key: string, init: RequestInit): Promise<Response> {
    const aws = await client.get();
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await aws.fetch(`${url}/${key}`, { ...init, redirect: "error", signal }).catch(failed);
    if (response.ok || response.status === 404) return response;
    await response.body?.cancel();
    throw new Error(`The bucket responded with status ${response.status}.`);
  }

  return {
    async put(key: string, body: Buffer, contentType: string): Promise<void> {
      const { status } = await send(key, {
        method: "PUT",
        headers: { "content-type": contentType },
        body: new Uint8Array(body),
      });
      if (status === 404) throw new Error("The bucket does not exist.");
    },
    /** Returns an object. `undefined` if it does not exist. */
    async get(key: string): Promise<Buffer | undefined> {
      const response = await send(key, { method: "GET" });
      const body = Buffer.from(await response.arrayBuffer().catch(failed));
      if (response.ok) return body;
      if (body.includes("<Code>NoSuchKey</Code>")) return undefined;
      throw new Error("The bucket does not exist.");
    },
  };
}

/** Omits the original error, because the log would mistake its code for one from the database. */
function failed({
  name,
  cause,
}: Error & { readonly cause?: { readonly code?: string; readonly message?: string } }): never {
  const why = name === "TimeoutError" ? "in time" : `(${cause?.code ?? cause?.message})`;
  throw new Error(`The bucket did not respond ${why}.`);
}
