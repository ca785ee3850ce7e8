import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import {
  layoutChecksum,
  layoutString,
  MAX_PANES,
  MIN_PANE,
  windowCapacity,
  windowSizeFor,
} from '../../../src/backends/tmux/layout.js';

test('the checksum is the one tmux itself prints', () => {
  // As `list-windows -F '#{window_layout}'` showed them.
  expect(layoutChecksum('80x24,0,0,0')).toBe('b25d');
  expect(layoutChecksum('80x24,0,0[80x12,0,0,0,80x11,0,13,1]')).toBe('c195');
});

describe('windowCapacity', () => {
  test.each([
    [{ columns: 240, rows: 70 }, true, 5],
    [{ columns: 240, rows: 70 }, false, 5],
    [{ columns: 161, rows: 63 }, true, 5],
    [{ columns: 160, rows: 63 }, true, 3],
    [{ columns: 200, rows: 49 }, true, 3],
    [{ columns: 200, rows: 49 }, false, 4],
    [{ columns: 80, rows: 23 }, true, 1],
    [{ columns: 80, rows: 42 }, false, 2],
  ] as const)('%o with lead: %s takes %i panes', (size, withLead, expected) => {
    expect(windowCapacity(size, withLead)).toBe(expected);
  });
});

test('a terminal that is too small gets a window with room for one pane of the minimum', () => {
  expect(windowSizeFor({ columns: 20, rows: 5 })).toEqual({ columns: 80, rows: 21 });
  expect(windowSizeFor({ columns: 190, rows: 50 })).toEqual({ columns: 190, rows: 49 });
  expect(windowSizeFor(null)).toEqual({ columns: 240, rows: 70 });
});

test('puts the lead on top and the workers two by two below it', () => {
  expect(layoutString(5, { columns: 240, rows: 70 }, true)).toMatch(
    /^[0-9a-f]{4},240x70,0,0\[240x24,0,0,0,240x22,0,25\{120x22,0,25,1,119x22,121,25,2\},240x22,0,48\{120x22,0,48,3,119x22,121,48,4\}\]$/,
  );
  expect(layoutString(1, { columns: 80, rows: 23 }, true)).toMatch(/^[0-9a-f]{4},80x23,0,0,0$/);
});

test('every layout within capacity fills its window and has no pane below the minimum', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 80, max: 400 }),
      fc.integer({ min: 21, max: 120 }),
      fc.boolean(),
      fc.integer({ min: 1, max: MAX_PANES }),
      (columns, rows, lead, wanted) => {
        const size = { columns, rows };
        const count = Math.min(wanted, windowCapacity(size, lead));
        const leaves = [...layoutString(count, size, lead).matchAll(/(\d+)x(\d+),(\d+),(\d+),\d+/g)].map(
          (match) => match.slice(1).map(Number),
        );
        expect(leaves).toHaveLength(count);
        for (const [width = 0, height = 0, x = 0, y = 0] of leaves) {
          expect(width).toBeGreaterThanOrEqual(MIN_PANE.columns);
          expect(height - (y === 0 ? 1 : 0)).toBeGreaterThanOrEqual(MIN_PANE.rows);
          expect(x + width).toBeLessThanOrEqual(columns);
          expect(y + height).toBeLessThanOrEqual(rows);
        }
        expect(Math.max(...leaves.map(([, height = 0, , y = 0]) => y + height))).toBe(rows);
      },
    ),
  );
});
