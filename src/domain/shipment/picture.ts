/** A picture reduced to the parts that a decoder needs, or the error as a phrase that follows the field's name. */
export type CleanedPicture =
  | { readonly picture: Buffer; readonly error?: undefined }
  | { readonly picture?: undefined; readonly error: string };

export const MIB = 1024 * 1024;

/** Returns a Buffer that shares the memory of the bytes. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer<ArrayBuffer> {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
