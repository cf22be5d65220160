import { ServerResponse, type IncomingMessage } from "node:http";

/** Browsers take the type of an answer as it is told them, and run nothing that only looks like a script. */
const NOSNIFF = ["x-content-type-options", "nosniff"];

/** For a year, browsers that were here by https come by nothing else (RFC 6797). */
const HSTS = ["strict-transport-security", "max-age=31536000"];

type WriteHead = (status: number, headers?: readonly string[]) => ServerResponse;

/**
 * Builds the class of a server's answers, which adds to each what browsers are to keep to. It stands below
 * all that answer, so that nobody forgets it.
 *
 * @param isHttps whether browsers reach the server over https
 */
export function createAnswerClass(isHttps: boolean): typeof ServerResponse {
  const always = isHttps ? [...NOSNIFF, ...HSTS] : NOSNIFF;
  return class Answer<R extends IncomingMessage> extends ServerResponse<R> {
    override writeHead(status: number, ...rest: unknown[]): this {
      const given = rest.at(-1);
      // Beside headers in a list, those that were set one by one would cost a quote some microseconds.
      if (Array.isArray(given)) {
        (super.writeHead as WriteHead)(status, [...(given as string[]), ...always]);
        return this;
      }
      for (let i = 0; i < always.length; i += 2) this.setHeader(always[i]!, always[i + 1]!);
      return super.writeHead(status, ...(rest as []));
    }
  };
}
