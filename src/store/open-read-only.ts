import { existsSync } from 'node:fs';
import type { Store } from './contract.js';
import { openDatabase, openEmptyDatabase } from './database.js';
import { createStore, type StoreOptions } from './store.js';

/**
 * The store for readers such as `--list-sessions`: quick to load, since it needs no schema library. A file that does
 * not exist is a store without rows, and is not made. Whatever writes throws a plain Error. Throws STORE_UNAVAILABLE.
 */
export function openReadOnlyStore(options: StoreOptions): Store {
  if (!existsSync(options.path)) return createStore(openEmptyDatabase(options.path), null, options);
  const connection = openDatabase(options.path, { create: false });
  connection.pragma('query_only = ON');
  return createStore(connection, null, options);
}
