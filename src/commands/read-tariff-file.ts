import { readFile, stat } from "node:fs/promises";
import { MAX_ZONES_BYTES } from "../domain/limits.ts";
import { CommandRefused } from "./command.ts";

const MAX_FILE_BYTES = MAX_ZONES_BYTES;

/** @throws CommandRefused when there is no such file, or it is too large or not JSON */
export async function readTariffFile(file: string): Promise<unknown> {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
    // Without a byte order mark (RFC 8259, 8.1).
    return JSON.parse((await readFile(file, "utf8")).replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new CommandRefused(`${file} cannot be read: ${(error as Error).message}`);
  }
}
