import type { Answer, Endpoints } from "./endpoints.ts";

/** The drafts of a service, as an operator uses them by JSON. */
export interface Drafts {
  /** Calls a path below `/admin/v1`. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Begins a draft with the fees and zones of a document, and gives it. */
  begin(document: Readonly<Record<string, any>>, name?: string): Promise<any>;
  /** Puts zones, or a piece of them, as they are. */
  upload(draft: number, zones: unknown, query?: string): Promise<Answer>;
  /** Publishes a draft in the place of a version. */
  publish(draft: number, replaces: number, more?: object): Promise<Answer>;
}

/** The drafts of a service by the key of an operator. */
export function draftsOf(service: Endpoints, apiKey: string): Drafts {
  const call = (method: string, path: string, body?: unknown) =>
    service.request(`/admin/v1/${path}`, { apiKey, method, body });
  const upload = (draft: number, zones: unknown, query = "") =>
    service.request(`/admin/v1/tariff_drafts/${draft}/zones${query}`, {
      apiKey,
      method: "PUT",
      body: zones,
      headers: { "content-type": "application/geo+json" },
    });
  return {
    call,
    upload,
    async begin(document, name = "Spring") {
      const { zones, ...fees } = document;
      const { body } = await call("POST", "tariff_drafts", { name, fees });
      return (await upload(body.data.id, JSON.stringify(zones))).body.data;
    },
    publish: (draft, replaces, more = {}) =>
      call("POST", `tariff_drafts/${draft}/publish`, { replaces, ...more }),
  };
}
