import type { DescMessage, Message, MessageShape } from "@bufbuild/protobuf";
import { compileToJson, compileToMessage, type RecordOf } from "../json/records.ts";

/**
 * A response that creates its message or its JSON only when needed. Reads create JSON directly from
 * rows, which halves the cost. Both forms must be equivalent.
 */
export class LazyResponse<M extends Message = Message> {
  readonly message: () => M;
  /** Returns the response in the JSON dialect, for JSON.stringify. */
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
  /** Content of the document. It must not be modified. */
  readonly body: Buffer;
  /** Unique per document. Consists of visible ASCII characters without quotes. */
  readonly etag: string;
  readonly cacheControl: string;
}

/**
 * A response that is a document over HTTP and a message over other protocols. Many calls can share it
 * with its cached forms.
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

  /** Returns another form of the document, such as its compressed form, which is created on first use. */
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
