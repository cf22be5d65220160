/** A picture reduced to the parts that a decoder needs, or the error, worded to follow the field's name. */
export type CleanedPicture =
  | { readonly picture: Buffer; readonly error?: undefined }
  | { readonly picture?: undefined; readonly error: string };

export const MIB = 1024 * 1024;

/** Returns the same bytes as a Buffer. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer<ArrayBuffer> {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
