import { readFile, stat } from "node:fs/promises";
import { duplicateMember } from "../domain/duplicate-member.ts";
import { MAX_ZONES_BYTES } from "../domain/limits.ts";
import { isObject } from "../domain/faults.ts";
import { CommandRefused } from "./command.ts";

const MAX_FILE_BYTES = MAX_ZONES_BYTES;

/**
 * Reads a tariff from a file.
 *
 * @throws CommandRefused if the file does not exist, is too large, is not JSON, or contains a member twice
 */
export async function readTariffFile(file: string): Promise<unknown> {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
    // The byte order mark is removed, because JSON has none (RFC 8259, 8.1).
    const text = (await readFile(file, "utf8")).replace(/^\uFEFF/, "");
    const document: unknown = JSON.parse(text);
    const duplicate = isObject(document) ? duplicateMember(text, document) : undefined;
    if (duplicate !== undefined) throw new Error(`it has ${duplicate} twice; remove one`);
    return document;
  } catch (error) {
    throw new CommandRefused(`${file} cannot be read: ${(error as Error).message}`);
  }
}
