import type { Spot } from "./map-frame.ts";

/** A canvas as it is drawn on, with the colours of the theme. */
export interface Pen {
  readonly context: CanvasRenderingContext2D;
  /** How many pixels of the canvas a CSS pixel is. */
  readonly ratio: number;
  readonly family: string;
  /** A colour by its name in the stylesheet, without `--map-`. */
  color(name: string): string;
}

/** Clears a canvas that has this size now. */
export function takePen(
  context: CanvasRenderingContext2D,
  { width, height }: { readonly width: number; readonly height: number },
): Pen {
  const { canvas } = context;
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const style = getComputedStyle(canvas);
  const color = (name: string) => style.getPropertyValue(`--map-${name}`);
  return { context, ratio, family: style.fontFamily, color };
}

/** Has coordinates be multiplied by `k`, and moved by `x` and `y` CSS pixels. */
export function scaleTo({ context, ratio }: Pen, { k, x, y }: { k: number; x: number; y: number }) {
  context.setTransform(ratio * k, 0, 0, ratio * k, ratio * x, ratio * y);
}

/** A text with a halo, so that it is read over whatever is below. */
export function drawText({ context, color }: Pen, text: string, [x, y]: Spot, tone = "name"): void {
  context.strokeStyle = color("halo");
  context.fillStyle = color(tone);
  context.lineWidth = 3.5;
  context.lineJoin = "round";
  context.strokeText(text, x, y);
  context.fillText(text, x, y);
}
