import type { Store } from './contract.js';
import { openDatabase } from './database.js';
import { eventRules } from './event-rules.js';
import { openReadOnlyStore } from './open-read-only.js';
import { createStore, type StoreOptions } from './store.js';

/**
 * Opens (and when needed makes) the database file, 0600 in a folder of 0700, and brings its schema up to date. Many
 * processes may do so at once. Throws STORE_UNAVAILABLE when the file is damaged, newer, of another program or out of
 * reach. `readOnly`: see openReadOnlyStore.
 */
export function openStore(options: StoreOptions & { readonly readOnly?: boolean }): Store {
  if (options.readOnly === true) return openReadOnlyStore(options);
  return createStore(openDatabase(options.path, { create: true }), eventRules, options);
}
