import { useEffect, useRef } from "preact/hooks";
import type { Texts } from "../texts/en.ts";
import { base64Of } from "./pictures.ts";

const HEIGHT = 200;
const INK_WIDTH = 2.5;

/** A canvas to sign on. `onSign` receives a PNG in base64 after each stroke, or `undefined` when cleared. */
export function SignatureField(props: { readonly t: Texts; readonly onSign: (signature: string | undefined) => void }) {
  const { t, onSign } = props;
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => clear(ref.current!), []);
  return (
    <div class="field">
      <span class="label">{t.signature}</span>
      <canvas
        ref={ref}
        class="signature"
        height={HEIGHT}
        role="img"
        aria-label={t.signature}
        onPointerDown={draw}
        onPointerMove={draw}
        onPointerUp={() => onSign(base64Of(ref.current!.toDataURL("image/png")))}
      />
      <button
        type="button"
        onClick={() => {
          clear(ref.current!);
          onSign(undefined);
        }}
      >
        {t.clear}
      </button>
    </div>
  );
}

function clear(canvas: HTMLCanvasElement): void {
  canvas.width = canvas.clientWidth;
  canvas.height = HEIGHT;
  const context = canvas.getContext("2d")!;
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.lineWidth = INK_WIDTH;
  context.lineCap = "round";
  context.lineJoin = "round";
}

function draw({ currentTarget: canvas, offsetX, offsetY, buttons, pointerId, type }: PointerEvent): void {
  if (!(canvas instanceof HTMLCanvasElement) || buttons === 0) return;
  const context = canvas.getContext("2d")!;
  // The canvas is stretched once the phone is rotated.
  const x = (offsetX * canvas.width) / canvas.clientWidth;
  const y = (offsetY * canvas.height) / canvas.clientHeight;
  if (type === "pointerdown") {
    canvas.setPointerCapture(pointerId);
    context.beginPath();
    context.moveTo(x, y);
  }
  context.lineTo(x, y);
  context.stroke();
}
