import { boundsOf, type Bounds } from "./packed-polygons.ts";

/**
 * Which boxes reach into each cell of a grid around all of them, in arrays that can move between
 * threads. Box b is the four numbers from boxes[4b] on: west, south, east and north in degrees. Cell c
 * has the boxes in items from cellStart[c] up to, not including, cellStart[c + 1].
 */
export interface BoxGrid {
  /** Around all boxes. */
  readonly bounds: Bounds;
  readonly columns: number;
  readonly rows: number;
  readonly boxes: Float64Array;
  readonly cellStart: Uint32Array;
  readonly items: Uint32Array;
}

/** How many cells there are for each box: more take more memory, and few are then crowded. */
const CELLS_PER_BOX = 4;
/** How many boxes a cell lists at most. Where there are more, it is crowded, and lists none. */
const MAX_ITEMS = 8;
/** In how many cells a box is listed at most. All cells of a larger one are crowded. */
const MAX_CELLS = 64;
/** The item, alone in its cell, that says that the cell is crowded. */
const CROWDED = 0xffff_ffff;

/**
 * Builds the grid in time and memory proportional to the boxes, whatever their shapes.
 *
 * @param boxes four numbers each; at least one box
 */
export function createBoxGrid(boxes: Float64Array): BoxGrid {
  // Two corners of each box, one after the other.
  const bounds = boundsOf(boxes, 0, boxes.length);
  const grid = { bounds, ...shapeOf(bounds, (boxes.length / 4) * CELLS_PER_BOX), boxes };
  const counts = countInCells(grid);
  const cellStart = new Uint32Array(counts.length + 1);
  for (const [c, count] of counts.entries()) {
    cellStart[c + 1] = (cellStart[c] as number) + (count > MAX_ITEMS ? 1 : count);
  }
  const items = new Uint32Array(cellStart.at(-1) as number).fill(CROWDED);
  const end = cellStart.slice(0, -1);
  for (let box = 0; box < boxes.length / 4; box++) {
    const cells = cellsOf(grid, box);
    if (!isListed(cells)) continue;
    for (let row = cells.south; row <= cells.north; row++) {
      for (let column = cells.west; column <= cells.east; column++) {
        const c = row * grid.columns + column;
        if ((counts[c] as number) <= MAX_ITEMS) items[(end[c] as number)++] = box;
      }
    }
  }
  return { ...grid, cellStart, items };
}

/** What a grid says of a place. */
export type Finding = "none" | "some" | "crowded";

/**
 * Whether some box contains a position and passes a check; "crowded" when the grid cannot tell, since
 * too many boxes are near.
 */
export function findInGrid(
  { bounds, columns, rows, boxes, cellStart, items }: BoxGrid,
  x: number,
  y: number,
  check: (box: number) => boolean,
): Finding {
  const { west, south, east, north } = bounds;
  if (!(x >= west && x <= east && y >= south && y <= north)) return "none";
  const c = cellAt(y, south, north, rows) * columns + cellAt(x, west, east, columns);
  const end = cellStart[c + 1] as number;
  for (let i = cellStart[c] as number; i < end; i++) {
    const item = items[i] as number;
    if (item === CROWDED) return "crowded";
    const box = item * 4;
    const isWithin =
      x >= (boxes[box] as number) &&
      y >= (boxes[box + 1] as number) &&
      x <= (boxes[box + 2] as number) &&
      y <= (boxes[box + 3] as number);
    if (isWithin && check(item)) return "some";
  }
  return "none";
}

/** About so many cells, about as wide as high. */
function shapeOf(bounds: Bounds, cells: number) {
  const { west, south, east, north } = bounds;
  // Of boxes on one line, or in one place, all cells would be in one row.
  const width = Math.max(east - west, 1e-9);
  const height = Math.max(north - south, 1e-9);
  const columns = Math.min(cells, Math.ceil(Math.sqrt((cells * width) / height)));
  return { columns, rows: Math.max(1, Math.round(cells / columns)) };
}

/**
 * In which of so many cells between two degrees a degree between them lies. The greater of two
 * degrees is never in a cell before the other's, so a place in a box is in one of the box's cells.
 */
function cellAt(degrees: number, first: number, last: number, cells: number): number {
  return Math.min(cells - 1, Math.floor(((degrees - first) / (last - first)) * cells)) || 0;
}

type Cells = ReturnType<typeof cellsOf>;

type Shape = Pick<BoxGrid, "bounds" | "columns" | "rows" | "boxes">;

/** The columns and rows that a box reaches into. */
function cellsOf({ bounds, columns, rows, boxes }: Shape, box: number) {
  const { west, south, east, north } = bounds;
  const at = box * 4;
  return {
    west: cellAt(boxes[at] as number, west, east, columns),
    south: cellAt(boxes[at + 1] as number, south, north, rows),
    east: cellAt(boxes[at + 2] as number, west, east, columns),
    north: cellAt(boxes[at + 3] as number, south, north, rows),
  };
}

function isListed({ west, south, east, north }: Cells): boolean {
  return (east - west + 1) * (north - south + 1) <= MAX_CELLS;
}

/**
 * How many boxes reach into each cell; more than `MAX_ITEMS` where one does that is not listed. Each
 * box is noted at the four corners of its cells, and summed up over columns and rows afterwards, since
 * a box may have all cells.
 */
function countInCells(grid: Shape): Int32Array {
  const { columns, rows, boxes } = grid;
  const changes = new Int32Array((columns + 1) * (rows + 1));
  const add = (column: number, row: number, change: number) => {
    const c = row * (columns + 1) + column;
    changes[c] = (changes[c] as number) + change;
  };
  for (let box = 0; box < boxes.length / 4; box++) {
    const cells = cellsOf(grid, box);
    const weight = isListed(cells) ? 1 : MAX_ITEMS + 1;
    add(cells.west, cells.south, weight);
    add(cells.east + 1, cells.south, -weight);
    add(cells.west, cells.north + 1, -weight);
    add(cells.east + 1, cells.north + 1, weight);
  }
  const counts = new Int32Array(columns * rows);
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    for (let column = 0; column < columns; column++) {
      sum += changes[row * (columns + 1) + column] as number;
      const below = row === 0 ? 0 : (counts[(row - 1) * columns + column] as number);
      counts[row * columns + column] = below + sum;
    }
  }
  return counts;
}
