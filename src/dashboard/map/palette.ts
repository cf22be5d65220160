import type { FeatureLike } from "ol/Feature.js";
import { containsXY, type Extent, getCenter, getHeight, getWidth } from "ol/extent.js";
import LineString from "ol/geom/LineString.js";
import Point from "ol/geom/Point.js";
import Circle from "ol/style/Circle.js";
import Fill from "ol/style/Fill.js";
import RegularShape from "ol/style/RegularShape.js";
import Stroke from "ol/style/Stroke.js";
import Style from "ol/style/Style.js";
import Text from "ol/style/Text.js";
import { type Area, largestOf } from "./world.ts";

/** Role of a layer's zones: in force, before or after a change, or highlighted. */
export type LayerTone = "zone" | "before" | "after" | "marked";

export type Palette = ReturnType<typeof createPalette>;

/** Minimum width of a zone per letter of its name, in pixels, for the name to be shown. Names may exceed narrow parts. */
const ROOM_PER_LETTER = 6;

/** Radius of a pin, in pixels. */
const PIN_RADIUS = 13;
const ARROW_RADIUS = 6;

/** Creates a map's styles in the theme's colors, read from an element of the page. */
export function createPalette(element: HTMLElement) {
  const color = (name: string) => {
    // The element's text color is unused, so it can convert theme colors to a format that canvases support.
    element.style.color = `var(--map-${name})`;
    return getComputedStyle(element).color;
  };
  const { fontFamily } = getComputedStyle(element);
  const halo = new Stroke({ color: color("halo"), width: 3.5 });
  const texts = (font: string, tone: string, offsetY = 0) => {
    const fill = new Fill({ color: color(tone) });
    return (text: string) =>
      new Text({
        text,
        font: `${font} ${fontFamily}`,
        fill,
        stroke: halo,
        offsetY,
        overflow: true,
        padding: [2, 4, 2, 4],
      });
  };
  const zoneText = texts("600 12px", "name");
  const [countryText, cityText] = [texts("11px", "country"), texts("11px", "city", -9)];
  const dot = new Circle({ radius: 2, fill: new Fill({ color: color("city") }) });
  const zoneStyle = (tone: LayerTone, zIndex: number) =>
    new Style({
      zIndex,
      fill: new Fill({ color: color(`${tone}-fill`) }),
      stroke: new Stroke({
        color: color(`${tone}-line`),
        width: tone === "marked" ? 2.5 : 1,
        // A dashed line, because color alone must not carry meaning.
        ...(tone === "before" && { lineDash: [5, 3] }),
      }),
    });
  const tones = {
    zone: zoneStyle("zone", 0),
    before: zoneStyle("before", 0),
    after: zoneStyle("after", 1),
    marked: zoneStyle("marked", 2),
  };
  return {
    shade: color("shade"),
    land: new Style({
      fill: new Fill({ color: color("land") }),
      stroke: new Stroke({ color: color("border"), width: 1 }),
    }),
    country: (name: string) => new Style({ text: countryText(name) }),
    city: (name: string) => new Style({ image: dot, text: cityText(name) }),
    /** Returns a zone's style. The name is shown if the zone is about as wide as the name. */
    zone(feature: FeatureLike, inView: Extent, resolution: number): Style[] {
      const tone = tones[feature.get("tone") as LayerTone];
      const area = feature.getGeometry() as Area;
      const geometry = labelPoint(area, inView);
      const name = feature.get("name") as string | undefined;
      if (name === undefined || geometry === undefined) return [tone];
      if (getWidth(largestOf(area).getExtent()) / resolution < name.length * ROOM_PER_LETTER) return [tone];
      return [tone, new Style({ geometry, text: zoneText(name), zIndex: 3 + tone.getZIndex()! })];
    },
    route: routeStyles(color),
  };
}

function routeStyles(color: (name: string) => string) {
  // Reserve the space of pins, which are elements above the map, so that names avoid them.
  const pin = new Style({ image: new Circle({ radius: PIN_RADIUS, declutterMode: "obstacle" }) });
  const lines = [
    new Style({ stroke: new Stroke({ color: color("halo"), width: 5 }) }),
    new Style({ stroke: new Stroke({ color: color("route"), width: 2 }) }),
  ];
  const fill = new Fill({ color: color("route") });
  /** Returns the style of a feature: the reserved space of a pin, or an arrow that stops before the pin. */
  return (feature: FeatureLike, resolution: number): Style[] => {
    const geometry = feature.getGeometry();
    if (!(geometry instanceof LineString)) return [pin];
    const [[x, y], [toX, toY]] = [geometry.getFirstCoordinate(), geometry.getLastCoordinate()];
    const length = Math.hypot(toX! - x!, toY! - y!) / resolution;
    if (length < 2 * PIN_RADIUS) return [];
    const share = 1 - (PIN_RADIUS + ARROW_RADIUS) / length;
    const rotation = Math.atan2(toX! - x!, toY! - y!);
    const image = new RegularShape({
      points: 3,
      radius: ARROW_RADIUS,
      rotation,
      fill,
      declutterMode: "none",
    });
    const at = new Point([x! + (toX! - x!) * share, y! + (toY! - y!) * share]);
    return [...lines, new Style({ geometry: at, image })];
  };
}

/** Number of columns and rows searched for a label position. */
const GRID = { columns: 5, rows: 4 };

/**
 * Returns the geometry for a zone's name: its largest polygon, or, if that polygon's middle is out
 * of view, a point of the zone near the map's center.
 */
function labelPoint(area: Area, inView: Extent) {
  const largest = largestOf(area);
  const [x, y] = largest.getInteriorPoint().getCoordinates();
  if (containsXY(inView, x!, y!)) return largest;
  const [middleX, middleY] = getCenter(inView);
  const fromMiddle = (point: readonly number[]) => Math.hypot(point[0]! - middleX!, point[1]! - middleY!);
  const found = Array.from({ length: GRID.columns * GRID.rows }, (_, i) => [
    inView[0]! + (getWidth(inView) * ((i % GRID.columns) + 1)) / (GRID.columns + 1),
    inView[1]! + (getHeight(inView) * (Math.floor(i / GRID.columns) + 1)) / (GRID.rows + 1),
  ])
    .toSorted((one, other) => fromMiddle(one) - fromMiddle(other))
    .find((point) => area.intersectsCoordinate(point));
  return found && new Point(found);
}
