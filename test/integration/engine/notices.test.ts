import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fact } from '../../../src/services/engine/deps.js';
import { pendingNotices, takeNotices } from '../../../src/services/engine/notices.js';
import { openStore } from '../../../src/store/open-store.js';
import { EngineRig } from '../../support/engine-rig.js';
import { SESSION } from '../../support/sample-events.js';

let rig: EngineRig;
beforeEach(() => {
  rig = new EngineRig();
});
afterEach(() => rig.close());

const notice = (text: string, about = 'w01') => rig.store.append(...rig.newsFor(about, text));
const take = (about?: string) =>
  takeNotices(rig.store, SESSION, 'tool result', (row) => about === undefined || row.about === about).map(
    ({ text }) => text,
  );
const pending = () => pendingNotices(rig.store, SESSION).map(({ text }) => text);

/** The lead has ended its turn and waits for workers. */
async function idleLead(): Promise<void> {
  await rig.working('lead', 'the goal');
  await rig.working('w01');
  await rig.endTurn('lead');
}

describe('a notice', () => {
  it('is handed over once, in order, to whoever takes it first', () => {
    notice('one');
    notice('two');
    expect(take()).toEqual(['one', 'two']);
    expect(take()).toEqual([]);
    expect(rig.messages('lead').map(({ state, detail }) => [state, detail])).toEqual([
      ['submitted', 'tool result'],
      ['submitted', 'tool result'],
    ]);
  });

  it('about another worker stays for the next', () => {
    notice('one', 'w01');
    notice('two', 'w02');
    expect(take('w02')).toEqual(['two']);
    expect(pending()).toEqual(['one']);
  });

  it('goes to exactly one of two takers on one database', () => {
    const path = join(rig.folder, 'state.db');
    const other = openStore({ path, clock: rig.clock });
    try {
      const told: string[] = [];
      for (let round = 0; round < 25; round++) {
        notice(`news ${round}`);
        const takers = [rig.store, other].map((store) => () => takeNotices(store, SESSION, 'tool result'));
        if (round % 2 === 1) takers.reverse();
        for (const taker of takers) told.push(...taker().map(({ text }) => text));
      }
      expect(told).toEqual(Array.from({ length: 25 }, (_, round) => `news ${round}`));
    } finally {
      other.close();
    }
  });

  it('costs no transaction when there is none', () => {
    const before = rig.store.head();
    expect(take()).toEqual([]);
    expect(rig.store.head()).toBe(before);
  });
});

describe('an idle lead', () => {
  it('is woken with all its news in one text', async () => {
    await idleLead();
    rig.store.transaction((tx) => {
      tx.append(...rig.newsFor('w01', 'w01 asks'));
      tx.append(...rig.newsFor('w02', 'w02 is done'));
    });
    await rig.until('the news', () => rig.backend.isSending('lead'));
    expect(rig.backend.sending('lead').text).toBe(
      '[agentorchestr] News from your workers:\n- w01 asks\n- w02 is done',
    );
    await rig.take('lead');
    expect(rig.worker('lead').state).toBe('working');
    expect(pending()).toEqual([]);
  });

  it('is told of what comes meanwhile in the next text', async () => {
    await idleLead();
    notice('one');
    notice('two');
    await rig.take('lead');
    expect(pending()).toEqual(['two']);
    await rig.endTurn('lead');
    expect(rig.backend.sending('lead').text).toContain('- two');
  });

  it('is not typed what it has just been told in a tool result', async () => {
    await idleLead();
    notice('one');
    notice('two', 'w02');
    await rig.until('the news', () => rig.backend.isSending('lead'));
    const first = rig.backend.sending('lead');
    // A person types, submits, and the lead calls a tool.
    first.held('human_draft');
    expect(take()).toEqual(['one', 'two']);
    await rig.calm();
    expect(first.outcome).toMatchObject({ outcome: 'refused' });
    expect(rig.backend.isSending('lead')).toBe(false);
    expect(rig.messages('lead').filter(({ kind }) => kind === 'notice')).toMatchObject([
      { state: 'submitted', detail: 'tool result' },
      { state: 'submitted', detail: 'tool result' },
    ]);
    expect(rig.worker('lead').state).toBe('idle');
  });

  it('has its news told once although the paste was on its way when the tool result took it', async () => {
    await idleLead();
    notice('one');
    await rig.until('the news', () => rig.backend.isSending('lead'));
    const { observer } = rig.backend.sending('lead').options;
    expect(take()).toEqual(['one']);
    observer.held('dialog');
    observer.typed(9);
    expect(rig.messages('lead').at(-1)).toMatchObject({ state: 'submitted', detail: 'tool result' });
    expect(take()).toEqual([]);
  });

  it('is still typed what the tool result left out', async () => {
    await idleLead();
    rig.store.append(...rig.newsFor('w01', 'one'), ...rig.newsFor('w02', 'two'));
    await rig.until('the news', () => rig.backend.isSending('lead'));
    rig.backend.sending('lead').held('human_draft');
    expect(take('w01')).toEqual(['one']);
    expect(rig.backend.isSending('lead')).toBe(false);
    await rig.until('the rest', () => rig.backend.isSending('lead'));
    expect(rig.backend.sending('lead').text).toBe('[agentorchestr] News from your workers:\n- two');
  });

  it('is not typed any once the goal is decided', async () => {
    await idleLead();
    rig.store.append(
      fact(
        'goal.failed',
        { session_id: SESSION, source: 'mcp', evidence: 'protocol' },
        { reason: 'cannot be' },
      ),
    );
    notice('too late to matter');
    await rig.calm();
    expect(rig.backend.isSending('lead')).toBe(false);
  });
});

describe('a lead in its turn', () => {
  it('is typed no notice, but what a person says goes to it at once', async () => {
    await rig.working('lead', 'the goal');
    notice('one');
    await rig.calm();
    expect(rig.backend.isSending('lead')).toBe(false);
    rig.instruct('lead', 'use tabs');
    await rig.until('the message', () => rig.backend.isSending('lead'));
    expect(rig.backend.sending('lead').text).toBe('use tabs');
  });

  it('is not followed up at its end while there is news for it', async () => {
    await rig.working('lead', 'the goal');
    notice('one');
    await rig.endTurn('lead');
    expect(rig.backend.sending('lead').text).toContain('- one');
    expect(rig.receipts('lead')).toEqual([['task', 'answered']]);
  });
});

describe('workers', () => {
  it('are told nothing of it', async () => {
    await rig.working('w01');
    notice('one', 'w02');
    await rig.endTurn('w01');
    expect(rig.backend.isSending('w01')).toBe(false);
  });
});
