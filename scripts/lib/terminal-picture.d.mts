export interface Frame {
  readonly screen: string;
  readonly caption: string;
  readonly seconds: number;
}
export declare function renderPicture(options: {
  readonly frames: readonly Frame[];
  readonly columns: number;
  readonly rows: number;
  readonly still: number;
  readonly description: string;
}): string;
