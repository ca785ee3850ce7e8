import { capitalize } from './capitalize.js';

/** Every tool, by its name. */
export const TOOLS = { capitalize };
