import { drawGround, groundNames } from "./draw-ground.ts";
import type { Ground } from "./ground.ts";
import type { Size } from "./map-camera.ts";
import {
  type Box,
  onCanvas,
  metresPerPixel,
  placeAt,
  type Spot,
  type Transform,
  type WorldFrame,
} from "./map-frame.ts";
import { drawText, type Pen, scaleTo, takePen } from "./pen.ts";
import { scaleBar } from "./scale-bar.ts";
import type { TileLayer } from "./tile-layer.ts";
import { boxAround, type Label, withoutOverlaps } from "./zone-names.ts";
import { isIn, type ZoneShape, type ZoneShapes } from "./zone-shapes.ts";

/** What is below the zones, as far as it is loaded: images, where there are any, over the ground. */
export interface Below {
  readonly ground?: Ground;
  readonly tiles?: TileLayer;
}

/** What is needed to draw a map. */
export interface Drawing extends Below {
  /** Of the canvas. */
  readonly size: Size;
  readonly shapes: ZoneShapes;
  /** How the coordinates of shapes become those on the canvas. */
  readonly at: Transform;
  readonly frame: WorldFrame;
  /** Where the ends of the route are. */
  readonly route: readonly Spot[];
}

/** Draws ground, zones, the route, names and the scale; pins are elements above the canvas. */
export function drawMap(context: CanvasRenderingContext2D, drawing: Drawing): void {
  const { ground, tiles, size, route } = drawing;
  const pen = takePen(context, size);
  if (ground !== undefined) drawGround(pen, ground, drawing);
  tiles?.draw(pen, drawing);
  drawShapes(pen, drawing);
  scaleTo(pen, UNSCALED);
  context.setLineDash([]);
  context.lineJoin = "round";
  drawRoute(pen, route);
  drawNames(pen, drawing);
  drawScale(pen, drawing);
}

const UNSCALED: Transform = { k: 1, x: 0, y: 0 };

/** Names of zones, and where there is room left, of what is below them. */
function drawNames(pen: Pen, drawing: Drawing): void {
  const { context, color } = pen;
  const { ground, tiles, size, route } = drawing;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.font = `600 12px ${pen.family}`;
  const taken = [...route.map(pinBox), scaleBox(size), buttonBox(size), creditsBox(size)];
  const names = withoutOverlaps(zoneNames(context, drawing), taken);
  scaleTo(pen, UNSCALED);
  for (const { text, at } of names) drawText(pen, text, at);
  // Tiles have names of their own.
  if (ground === undefined || tiles !== undefined) return;
  context.font = `11px ${pen.family}`;
  const boxes = [...taken, ...names.map(boxAround)];
  for (const { text, at, dot } of withoutOverlaps(groundNames(pen, ground, drawing), boxes)) {
    drawText(pen, text, at, dot === undefined ? "country" : "place");
    if (dot === undefined) continue;
    context.fillStyle = color("place");
    context.beginPath();
    context.arc(...dot, 2, 0, 2 * Math.PI);
    context.fill();
  }
}

function drawShapes(pen: Pen, { shapes, at }: Drawing): void {
  const { context, color } = pen;
  scaleTo(pen, at);
  for (const { path, tone } of shapes) {
    context.lineWidth = (tone === "marked" ? 2.5 : 1) / at.k;
    // Told apart without their colours too.
    context.setLineDash(tone === "before" ? [5 / at.k, 3 / at.k] : []);
    context.fillStyle = color(`${tone}-fill`);
    context.strokeStyle = color(`${tone}-line`);
    context.fill(path, "evenodd");
    context.stroke(path);
  }
}

/** How much room a pin takes, from its middle. */
const PIN_RADIUS = 13;

function pinBox([x, y]: Spot): Box {
  return {
    left: x - PIN_RADIUS,
    top: y - PIN_RADIUS,
    right: x + PIN_RADIUS,
    bottom: y + PIN_RADIUS,
  };
}

/** An arrow from each point to the next, which ends before the pin there. */
function drawRoute({ context, color }: Pen, route: readonly Spot[]): void {
  for (const [i, [x, y]] of route.entries()) {
    const next = route[i + 1];
    if (next === undefined) return;
    const length = Math.hypot(next[0] - x, next[1] - y);
    if (length < 2 * PIN_RADIUS) continue;
    const line = new Path2D();
    line.moveTo(x, y);
    line.lineTo(...next);
    const angle = Math.atan2(next[1] - y, next[0] - x);
    const tip = arrowhead(along([x, y], angle, length - PIN_RADIUS), angle);
    context.strokeStyle = color("halo");
    context.lineWidth = 5;
    context.stroke(line);
    context.stroke(tip);
    context.strokeStyle = context.fillStyle = color("route");
    context.lineWidth = 2;
    context.stroke(line);
    context.fill(tip);
  }
}

const ARROW_LENGTH = 11;

function arrowhead(tip: Spot, angle: number): Path2D {
  const path = new Path2D();
  path.moveTo(...tip);
  path.lineTo(...along(tip, angle + Math.PI - 0.45, ARROW_LENGTH));
  path.lineTo(...along(tip, angle + Math.PI + 0.45, ARROW_LENGTH));
  path.closePath();
  return path;
}

function along([x, y]: Spot, angle: number, length: number): [number, number] {
  return [x + Math.cos(angle) * length, y + Math.sin(angle) * length];
}

/** The height of a name, in pixels. */
const NAME_HEIGHT = 14;

/** The names of zones that have room for them, those of marked and of larger ones first. */
function* zoneNames(context: CanvasRenderingContext2D, drawing: Drawing): Iterable<Label> {
  for (const shape of drawing.shapes.filter((one) => isSeen(one, drawing)).toSorted(byRank)) {
    if (shape.name === undefined) continue;
    const width = context.measureText(shape.name).width;
    const { left, top, right, bottom } = boxOnCanvas(shape.bounds, drawing.at);
    if (right - left < width || bottom - top < NAME_HEIGHT) continue;
    const at = nameSpot(context, shape, { ...drawing, textWidth: width });
    if (at !== undefined) yield { text: shape.name, at, width, height: NAME_HEIGHT };
  }
}

function isSeen({ bounds }: ZoneShape, { at, size }: Drawing): boolean {
  const { left, top, right, bottom } = boxOnCanvas(bounds, at);
  return right > 0 && bottom > 0 && left < size.width && top < size.height;
}

function byRank(one: ZoneShape, other: ZoneShape): number {
  return rankOf(other) - rankOf(one);
}

function rankOf({ tone, bounds: { left, top, right, bottom } }: ZoneShape): number {
  return tone === "marked" ? Number.MAX_VALUE : (right - left) * (bottom - top);
}

function boxOnCanvas({ left, top, right, bottom }: Box, at: Transform): Box {
  const [[x, y], [x2, y2]] = [onCanvas([left, top], at), onCanvas([right, bottom], at)];
  return { left: x, top: y, right: x2, bottom: y2 };
}

/** In how many columns and rows a place for a name is looked for. */
const GRID = { columns: 5, rows: 4 };

/**
 * Where a zone's name has most room; of a zone that is in view only in part, a point of it near the middle
 * of the map.
 */
function nameSpot(
  context: CanvasRenderingContext2D,
  shape: ZoneShape,
  { at, size, textWidth }: Drawing & { readonly textWidth: number },
): Spot | undefined {
  const best = onCanvas(shape.namePoint(), at);
  if (isWithin(best, size, textWidth)) return best;
  const { width, height } = size;
  const points = Array.from({ length: GRID.columns * GRID.rows }, (_, i): Spot => [
    (width * ((i % GRID.columns) + 1)) / (GRID.columns + 1),
    (height * (Math.floor(i / GRID.columns) + 1)) / (GRID.rows + 1),
  ]);
  const fromMiddle = ([x, y]: Spot) => Math.hypot(x - width / 2, y - height / 2);
  const found = points
    .toSorted((one, other) => fromMiddle(one) - fromMiddle(other))
    .filter((spot) => isWithin(spot, size, textWidth) && isIn(context, shape, spot, at));
  const isWholeIn = ([x, y]: Spot) =>
    [-1, 1].every((side) => isIn(context, shape, [x + (side * textWidth) / 2, y], at));
  return found.find(isWholeIn) ?? found[0];
}

/** Whether a text around a point is in view. */
function isWithin([x, y]: Spot, { width, height }: Size, textWidth: number): boolean {
  const [besides, above] = [textWidth / 2, NAME_HEIGHT / 2];
  return x > besides && y > above && x < width - besides && y < height - above;
}

/** The scale is in the lower left corner, and at most so long, in pixels. */
const SCALE = { left: 10, bottom: 10, maxWidth: 100, height: 22 };

function scaleBox({ height }: Size): Box {
  const top = height - SCALE.bottom - SCALE.height;
  return { left: 0, top, right: SCALE.left + SCALE.maxWidth, bottom: height };
}

/** Where it says whom the map is from, above the canvas. */
function creditsBox({ width, height }: Size): Box {
  return { left: width - 170, top: height - 20, right: width, bottom: height };
}

/** Where the buttons are, above the canvas. */
function buttonBox({ width }: Size): Box {
  return { left: width - 42, top: 0, right: width, bottom: 108 };
}

/** As it is in the middle of the map: Mercator's differs by latitude. */
function drawScale(pen: Pen, { frame, size: { width, height } }: Drawing): void {
  const middle = placeAt(frame, [width / 2, height / 2]);
  if (middle === undefined) return;
  const { text, width: length } = scaleBar(metresPerPixel(frame, middle.lat), SCALE.maxWidth);
  const [left, bottom] = [SCALE.left, height - SCALE.bottom];
  const { context, color, family } = pen;
  context.font = `11px ${family}`;
  const bar = new Path2D();
  bar.moveTo(left, bottom - 5);
  bar.lineTo(left, bottom);
  bar.lineTo(left + length, bottom);
  bar.lineTo(left + length, bottom - 5);
  context.lineWidth = 4;
  context.strokeStyle = color("halo");
  context.stroke(bar);
  context.lineWidth = 1.5;
  context.strokeStyle = color("name");
  context.stroke(bar);
  context.textAlign = "start";
  context.textBaseline = "alphabetic";
  drawText(pen, text, [left + 2, bottom - 7]);
}
