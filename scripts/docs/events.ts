import { EVENT_SOURCES, EVENT_VERSION, EVENTS } from '../../src/core/events/index.js';
import type { EventDefinition } from '../../src/core/events/define.js';
import { EVIDENCE } from '../../src/core/state/states.js';
import { code, GENERATED, page, table } from './markdown.js';
import { fieldTable } from './schema.js';

export function eventsPage(): string {
  return page(
    '# Events',
    GENERATED,
    'An event is a fact, appended once to the log and numbered by `seq`, gapless per database. Rows are folds of events. Ephemeral events are published only: they are not stored and carry `seq: null`.',
    '## Envelope',
    table(
      ['field', 'meaning'],
      [
        [code('seq'), 'number in the log; `null` for an ephemeral event'],
        [code('type'), 'one of the names below'],
        [code('at'), 'ISO time with milliseconds'],
        [code('session_id'), 'the session it belongs to'],
        [`${code('worker_id')} (optional)`, 'the worker it is about; for `message.*` the addressee'],
        [`${code('run_id')} (optional)`, 'the run it is about'],
        [code('source'), `who says it: ${EVENT_SOURCES.map(code).join(', ')}`],
        [code('evidence'), `how it is known, strongest first: ${EVIDENCE.map(code).join(', ')}`],
        [code('v'), `version of the shape, now ${EVENT_VERSION}`],
        [code('data'), 'the fields below'],
      ],
    ),
    ...Object.entries<EventDefinition>(EVENTS).flatMap(([name, definition], index, all) => {
      const noun = nounOf(name);
      const isFirst = index === 0 || nounOf(all[index - 1]?.[0] ?? '') !== noun;
      return [...(isFirst ? [`## ${noun}`] : []), ...section(name, definition)];
    }),
  );
}

const nounOf = (name: string): string => name.split('.')[0] ?? name;

function section(name: string, definition: EventDefinition): string[] {
  const kept = definition.durable
    ? definition.synced
      ? ' Synced to disk before it is acknowledged.'
      : ''
    : ' Ephemeral.';
  return [`### ${name}`, `${definition.doc}${kept}`, fieldTable(definition.data, 'output')];
}
