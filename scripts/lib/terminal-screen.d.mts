export interface Style {
  readonly fg: string | null;
  readonly bg: string | null;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
}
export interface Run {
  readonly text: string;
  readonly column: number;
  readonly width: number;
  readonly style: Style;
}
export declare function parseScreen(text: string): Run[][];
export declare function cells(text: string): { text: string; width: number }[];
