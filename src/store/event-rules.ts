import {
  checkEvent,
  EVENT_VERSION,
  EVENTS,
  isDurable,
  type EventName,
  type NewEvent,
} from '../core/events/index.js';

/** What the log asks of the event table. Handed in, so that readers never load the schema library. */
export interface EventRules {
  readonly version: number;
  /** The data as JSON, without what the table does not know. Throws a plain Error for what must not be appended. */
  encode(event: NewEvent): string;
  isSynced(name: EventName): boolean;
  isDurable(name: EventName): boolean;
}

export const eventRules: EventRules = {
  version: EVENT_VERSION,
  encode(event) {
    if (!isDurable(event.type)) throw new Error(`${event.type} is ephemeral: publish it, do not append it`);
    checkEvent(event);
    return wellFormed(JSON.stringify(EVENTS[event.type].data.parse(event.data)));
  },
  isSynced: (name) => EVENTS[name].synced,
  isDurable,
};

/** A text cut inside a surrogate pair would come back from SQLite as another text than it went in. */
function wellFormed(json: string): string {
  if (!json.includes('\\ud')) return json;
  return JSON.stringify(JSON.parse(json), (_key, value: unknown) =>
    typeof value === 'string' ? Buffer.from(value).toString() : value,
  );
}
