import type { DescMessage, Message, MessageShape } from "@bufbuild/protobuf";
import { compileToJson, compileToMessage, type RecordOf } from "../json/records.ts";

/**
 * A response in both forms, of which only the one that is needed is made: reads answer straight from
 * rows to JSON, at half of what a message in between costs. The forms must say the same.
 */
export class LazyResponse<M extends Message = Message> {
  readonly message: () => M;
  /** What the JSON dialect makes of the message, for JSON.stringify. */
  readonly json: () => object;

  constructor(message: () => M, json: () => object) {
    this.message = message;
    this.json = json;
  }
}

export function compileResponse<Desc extends DescMessage>(schema: Desc) {
  const toMessage = compileToMessage(schema);
  const toJson = compileToJson(schema);
  return (record: RecordOf<MessageShape<Desc>>) =>
    new LazyResponse<MessageShape<Desc>>(
      () => toMessage(record),
      () => toJson(record),
    );
}

export interface Document {
  readonly contentType: string;
  /** Must not change. */
  readonly body: Buffer;
  /** Differs for documents that differ: visible characters of ASCII but quotes, without quotes. */
  readonly etag: string;
  readonly cacheControl: string;
}

/**
 * A response that is a document by HTTP and a message elsewhere. It may answer many calls, which then
 * share its forms: each is made once, and kept with it.
 */
export class DocumentResponse<M extends Message = Message> {
  readonly message: () => M;
  readonly document: Document;
  readonly #forms = new Map<string, Promise<Buffer>>();
  #formBytes = 0;

  constructor(message: () => M, document: Document) {
    this.message = message;
    this.document = document;
  }

  /** Another form of the response, such as the compressed document; made when first asked for. */
  form(name: string, make: () => Promise<Buffer>): Promise<Buffer> {
    const made = this.#forms.get(name) ?? this.#make(name, make);
    this.#forms.set(name, made);
    return made;
  }

  get heldBytes(): number {
    return this.document.body.length + this.#formBytes;
  }

  async #make(name: string, make: () => Promise<Buffer>): Promise<Buffer> {
    try {
      const form = await make();
      this.#formBytes += form.length;
      return form;
    } catch (error) {
      this.#forms.delete(name);
      throw error;
    }
  }
}

export type RpcResponse<M extends Message = Message> = M | LazyResponse<M> | DocumentResponse<M>;

export function hasForms(response: object): response is LazyResponse | DocumentResponse {
  return response instanceof LazyResponse || response instanceof DocumentResponse;
}

export function messageOf<M extends Message>(response: RpcResponse<M>): M {
  return hasForms(response) ? (response.message() as M) : response;
}
