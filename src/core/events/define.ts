import { z } from 'zod';

/** One entry of the event table. `doc` says when it is appended and what is then guaranteed. */
export interface EventDefinition<Schema extends z.ZodType = z.ZodType> {
  readonly doc: string;
  readonly data: Schema;
  /** false = published only, never stored. Default true. */
  readonly durable: boolean;
  /** true = the commit is synced to disk before it is acknowledged: it creates or ends something. */
  readonly synced: boolean;
}

export function event<Shape extends z.ZodRawShape>(
  doc: string,
  shape: Shape,
  options: { durable?: boolean; synced?: boolean } = {},
): EventDefinition<z.ZodObject<Shape>> {
  return { doc, data: z.object(shape), durable: options.durable ?? true, synced: options.synced ?? false };
}
