import { useState } from "preact/hooks";
import type { Texts } from "../texts/en.ts";
import { ErrorNote } from "./error-note.tsx";
import { scalePhoto } from "./pictures.ts";

/** Lets the courier take a photo with the camera. `photo` is a JPEG in base64. */
export function PhotoField(props: {
  readonly t: Texts;
  readonly photo: string | undefined;
  readonly isRequired: boolean;
  readonly onTake: (photo: string) => void;
}) {
  const { t, photo, isRequired, onTake } = props;
  const [isUnreadable, setUnreadable] = useState(false);
  const take = async (input: HTMLInputElement) => {
    const [file] = input.files ?? [];
    if (file === undefined) return;
    // The form cannot be submitted without the photo.
    input.setCustomValidity(t.loading);
    const scaled = await scalePhoto(file).finally(() => input.setCustomValidity(""));
    // The same file can be chosen again.
    input.value = "";
    setUnreadable(scaled === undefined);
    if (scaled !== undefined) onTake(scaled);
  };
  return (
    <div class="field">
      <span class="label">
        {t.photo} {!isRequired && <small>({t.optional})</small>}
      </span>
      {photo !== undefined && <img class="photo" src={`data:image/jpeg;base64,${photo}`} alt={t.photo} />}
      <label class="button file">
        {photo === undefined ? t.takePhoto : t.retakePhoto}
        <input
          type="file"
          accept="image/*"
          capture="environment"
          onChange={(event) => void take(event.currentTarget)}
        />
      </label>
      <ErrorNote text={isUnreadable && t.photoUnreadable} />
    </div>
  );
}
