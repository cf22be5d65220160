/** The page where a visit ended. */
export interface VisitedPage {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** An HTTP client that keeps cookies, follows redirects and submits forms like a browser. */
export interface Visitor {
  cookies(origin: string): string;
  /** Opens a URL and follows redirects, except to URLs that start with `stopBefore`. */
  visit(url: string, options?: { form?: URLSearchParams; stopBefore?: string }): Promise<VisitedPage>;
}

/**
 * Creates a visitor without cookies.
 *
 * @param publicUrl origin that a proxy would serve. Requests to it go to `actualUrl`
 */
export function createVisitor(publicUrl: string, actualUrl: string): Visitor {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (origin: string) => jars.getOrInsertComputed(origin, () => new Map());
  const cookies = (origin: string) => [...jarOf(origin)].map(([name, value]) => `${name}=${value}`).join("; ");

  async function send(url: URL, form: URLSearchParams | undefined): Promise<VisitedPage> {
    const response = await fetch(url.href.replace(publicUrl, actualUrl), {
      headers: { cookie: cookies(url.origin), accept: "text/html,*/*;q=0.8" },
      redirect: "manual",
      ...(form === undefined ? {} : { method: "POST", body: form }),
    });
    for (const header of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(header)!;
      if (value === "") jarOf(url.origin).delete(name!);
      else jarOf(url.origin).set(name!, value!);
    }
    const { status, headers } = response;
    return { url, status, headers, text: await response.text() };
  }

  return {
    cookies,
    async visit(to, { form, stopBefore } = {}) {
      let page = await send(new URL(to), form);
      for (;;) {
        const location = page.headers.get("location");
        if (location === null) return page;
        const next = new URL(location, page.url);
        if (stopBefore !== undefined && next.href.startsWith(stopBefore)) {
          return { ...page, url: next };
        }
        page = await send(next, undefined);
      }
    },
  };
}
