import { agentsPage } from './agents.js';
import { cliPage } from './cli.js';
import { errorsPage } from './errors.js';
import { eventsPage } from './events.js';
import { operationsPage } from './operations.js';
import { settingsPage } from './settings.js';

/** File name below docs/reference → text. All of it is made from the tables in src. */
export function renderReference(): Readonly<Record<string, string>> {
  return {
    'agents.md': agentsPage(),
    'cli.md': cliPage(),
    'errors.md': errorsPage(),
    'events.md': eventsPage(),
    'operations.md': operationsPage(),
    'settings.md': settingsPage(),
  };
}
